"""The evictions of a run, in figures: how many were needed, and which gangs they broke."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from planning.rows import Amounts

Json = Mapping[str, Any]

COMMITTED = "committed"
_HELD = ("Running", "Bound", "Binding", "Allocated")
"""The status of pods that hold resources; with those that have succeeded they count to minMember."""


@dataclass(frozen=True)
class Evictions:
    """How many pods were evicted, and how many would have been enough on the chosen nodes.

    Where not `exact`, `needed` is a lower bound. `freed` is what the evicted pods held, `used` what those
    that they were evicted for request, even if these still wait at the end. Each pod counts once.
    """

    pods: int
    evictions: int
    needed: int
    exact: bool
    freed: Amounts
    used: Amounts

    @property
    def excess(self) -> int:
        """Return how many evictions were not needed; an upper bound if `needed` is a lower one."""
        return self.evictions - self.needed


@dataclass(frozen=True)
class BrokenGang:
    """A job of which evictions left some pods, but fewer than its minMember; succeeded pods count, too."""

    job: str
    queue: str
    kept: int
    pods: int
    minimum: int


def is_made(victim: Json) -> bool:
    """Return whether an eviction took place."""
    return bool(victim["state"] == COMMITTED)


def broken_gangs(jobs: Sequence[Json], victims: Iterable[Json]) -> list[BrokenGang]:
    """Return the jobs of which evictions left some pods, but fewer than minMember; most pods first."""
    evicted = {victim["job"] for victim in filter(is_made, victims)}
    found = []
    for job in jobs:
        held = sum(job["task_status"].get(status, 0) for status in _HELD)
        kept = held + job["task_status"].get("Succeeded", 0)
        if job["job"] in evicted and held and kept < job["min_available"]:
            found.append(BrokenGang(job["job"], job["queue"], kept, job["pods"], job["min_available"]))
    return sorted(found, key=lambda gang: (-gang.kept, gang.job))


def evictions_of(victims: Sequence[Json], stories: Sequence[Json] | None) -> Evictions | None:
    """Return the counts of evictions and how many were needed, None without explanations in the run."""
    made = [victim for victim in victims if is_made(victim)]
    completed = [story for story in stories or () if is_made(story)]
    if len(completed) != len(made):
        return None
    purposes: dict[tuple[Any, ...], list[Json]] = {}
    for story in completed:
        target = story["for"]
        purpose = story["cycle"], story["action"], target["pod"], target["job"], *story["together"]
        purposes.setdefault(purpose, []).append(story)
    needs = [(len(group), group[0]["smallest"]) for group in purposes.values()]
    freed = {story["pod"]: story["freed"] for story in completed}
    used: dict[tuple[str, str], Mapping[str, float]] = {}
    for story in completed:
        used.setdefault((story["for"]["pod"], story["for"]["job"]), story["needed"])
    return Evictions(
        pods=len({victim["pod"] for victim in made}),
        evictions=len(made),
        needed=sum(min(count, smallest["count"]) for count, smallest in needs),
        exact=all(smallest["exact"] for _, smallest in needs),
        freed=_total(freed.values()),
        used=_total(used.values()),
    )


def _total(vectors: Iterable[Mapping[str, float]]) -> dict[str, float]:
    total: dict[str, float] = {}
    for vector in vectors:
        for name, amount in vector.items():
            total[name] = total.get(name, 0.0) + amount
    return total
