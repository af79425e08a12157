"""The verdict on a run, in figures."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from planning.deficits import NEGLIGIBLE, contested, deficit, measured_in
from planning.impossible_jobs import NEVER, never_runs
from planning.rows import QueueFigures, queues_with_children, waits
from planning.utilisation import PoolUse, ResourceUse
from planning.verdict_evictions import BrokenGang, Evictions, broken_gangs, evictions_of, is_made

Json = Mapping[str, Any]

MOST_NAMED = 50
"""The most queues or jobs of a kind that a verdict lists; it counts all of them."""


@dataclass(frozen=True)
class StarvedQueue:
    """A queue with waiting jobs that holds less than it deserves and requests.

    It is measured in the most contested resource that it deserves and requests; `part` is what it lacks of
    its deserved amount.
    """

    queue: str
    resource: str
    part: float
    deserved: float
    allocated: float
    jobs: int


@dataclass(frozen=True)
class MovedQueue:
    """A queue that evictions left below its deserved amount, or that a run lifted above it.

    `evicted` counts pods.
    """

    queue: str
    resource: str
    deserved: float
    before: float
    after: float
    evicted: int


@dataclass(frozen=True)
class StuckJob:
    """A job that can never run in this cluster, and why (see NEVER)."""

    job: str
    queue: str
    why: str


@dataclass(frozen=True)
class Verdict:
    """The figures of a run; lists name the worst first, `counts` has the number of each."""

    divided: bool
    starved: Sequence[StarvedQueue]
    pushed_below: Sequence[MovedQueue]
    lifted_above: Sequence[MovedQueue]
    evictions: Evictions | None
    loops: int
    looping_pods: int
    never: Sequence[StuckJob]
    jobs: int
    waiting_jobs: int
    waiting_pods: int
    pools: Sequence[PoolUse]
    counts: Mapping[str, int]
    broken: Sequence[BrokenGang] = ()

    @property
    def usage(self) -> Sequence[ResourceUse]:
        """Return how full all nodes are together."""
        return self.pools[0].resources if self.pools else ()


def verdict_of(
    *,
    queues: Iterable[Json],
    jobs: Sequence[Json],
    victims: Sequence[Json],
    stories: Sequence[Json] | None,
    loops: Sequence[Json],
    pools: Sequence[PoolUse],
    ignored: int = 0,
) -> Verdict:
    """Return the verdict on a result, given its stored rows.

    `stories` says of each eviction why it happened, None where the run kept no explanations; `loops` are the
    eviction loops; `ignored` is the number of jobs whose queue does not exist.
    """
    figures = [_figures(columns) for columns in queues]
    waiting = [job for job in jobs if waits(job)]
    measured = {row.queue for row in figures if row.in_session}
    starved = _starved(figures, waiting)
    pushed, lifted = _moved(figures, victims)
    broken = broken_gangs(jobs, victims)
    never = [StuckJob(job["job"], job["queue"], why) for job in waiting if (why := never_runs(job))]
    return Verdict(
        divided=any(row.in_session and row.deserved for row in figures),
        starved=starved[:MOST_NAMED],
        pushed_below=pushed[:MOST_NAMED],
        lifted_above=lifted[:MOST_NAMED],
        evictions=evictions_of(victims, stories),
        loops=len(loops),
        looping_pods=len({pod["pod"] for loop in loops for pod in loop["pods"]}),
        never=never[:MOST_NAMED],
        jobs=len(jobs),
        waiting_jobs=len(waiting),
        waiting_pods=sum(job["pending"] for job in waiting),
        pools=pools,
        counts={
            "starved": len(starved),
            "pushed_below": len(pushed),
            "lifted_above": len(lifted),
            "never": len(never),
            "broken": len(broken),
            "unmeasured": len({job["queue"] for job in waiting} - measured),
            "ignored": ignored,
            "without_pods": sum(not job["pods"] for job in waiting),
            **{f"never_{why}": sum(job.why == why for job in never) for why in NEVER},
        },
        broken=broken[:MOST_NAMED],
    )


def _figures(columns: Json) -> QueueFigures:
    return QueueFigures(**{field.name: columns[field.name] for field in fields(QueueFigures)})


def _starved(figures: Sequence[QueueFigures], waiting: Sequence[Json]) -> list[StarvedQueue]:
    jobs: dict[str, int] = {}
    for job in waiting:
        jobs[job["queue"]] = jobs.get(job["queue"], 0) + 1
    resources = contested(figures)
    found = []
    for row in figures:
        name = measured_in(row, resources)
        missing = deficit(row, name)
        if missing and row.queue in jobs:
            deserved = row.deserved[name] or 0.0
            held = row.allocated.get(name) or 0.0
            found.append(StarvedQueue(row.queue, name, missing / deserved, deserved, held, jobs[row.queue]))
    return sorted(found, key=lambda queue: (-queue.part, queue.queue))


def _moved(
    figures: Sequence[QueueFigures], victims: Sequence[Json]
) -> tuple[list[MovedQueue], list[MovedQueue]]:
    """Return the queues that evictions left below their deserved amount, and those that ended above it.

    A queue that was below it before counts if it lost pods to other queues.
    """
    parents, resources = queues_with_children(figures), contested(figures)
    lost, taken, won = _evicted_pods(victims)
    pushed, lifted = [], []
    for row in figures:
        name = measured_in(row, resources)
        if not name or row.queue in parents:
            continue
        before, after = (held.get(name) or 0.0 for held in (row.allocated_at_open, row.allocated))
        move = MovedQueue(row.queue, name, row.deserved[name] or 0.0, before, after, 0)
        entitled = min(move.deserved, row.request.get(name) or 0.0) * (1 - NEGLIGIBLE)
        limit = move.deserved * (1 + NEGLIGIBLE)
        evicted = (lost if move.before >= entitled else taken).get(row.queue)
        if evicted and deficit(row, name):
            pushed.append(replace(move, evicted=len(evicted)))
        elif move.before <= limit < move.after:
            lifted.append(replace(move, evicted=len(won.get(row.queue, ()))))
    return (
        sorted(pushed, key=lambda queue: (queue.after / queue.deserved, queue.queue)),
        sorted(lifted, key=lambda queue: (-queue.evicted, queue.queue)),
    )


def _evicted_pods(victims: Iterable[Json]) -> tuple[dict[str, set[str]], ...]:
    """Return the evicted pods of each queue, those evicted for another queue, and those evicted for it."""
    lost, taken, won = dict[str, set[str]](), dict[str, set[str]](), dict[str, set[str]]()
    for victim in filter(is_made, victims):
        pod, of, for_queue = victim["pod"], victim["queue"], victim["for_queue"]
        lost.setdefault(of, set()).add(pod)
        won.setdefault(for_queue, set()).add(pod)
        if of != for_queue:
            taken.setdefault(of, set()).add(pod)
    return lost, taken, won


def kept(verdict: Verdict) -> dict[str, Any]:
    """Return a verdict as plain data."""
    return asdict(verdict)


def verdict_kept(entry: Json) -> Verdict:
    """Return the verdict from the data of `kept`."""
    return Verdict(**{**entry, **dict(_read(entry))})


def _read(entry: Json) -> Iterator[tuple[str, Any]]:
    yield "starved", [StarvedQueue(**one) for one in entry["starved"]]
    yield "pushed_below", [MovedQueue(**one) for one in entry["pushed_below"]]
    yield "lifted_above", [MovedQueue(**one) for one in entry["lifted_above"]]
    yield "broken", [BrokenGang(**one) for one in entry.get("broken", ())]
    yield "never", [StuckJob(**one) for one in entry["never"]]
    yield "evictions", Evictions(**entry["evictions"]) if entry["evictions"] else None
    yield (
        "pools",
        [
            PoolUse(**{**pool, "resources": [ResourceUse(**one) for one in pool["resources"]]})
            for pool in entry["pools"]
        ],
    )
