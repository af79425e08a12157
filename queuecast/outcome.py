"""The figures of a simulation that rules, tables and comparisons use."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import manifests
from planning.deficits import share_of
from planning.outcomes import why_waiting
from planning.rows import Decision, placements_at_end
from scheduler_core.explain.cycle_view import CycleView
from scheduler_core.explain.pending import awaits_pods

_WAITING = ("Pending", "Pipelined")


@dataclass(frozen=True)
class Victim:
    """A pod that the plan evicts."""

    pod: str
    queue: str
    for_pod: str

    def __str__(self) -> str:
        return f"{self.pod} of queue {self.queue}, for {self.for_pod}"


@dataclass(frozen=True)
class Outcome:
    """The figures at the end of the last cycle; amounts in the scheduler's units."""

    queues: Mapping[str, Mapping[str, Any]]
    jobs: Mapping[str, Mapping[str, Any]]
    ready: Mapping[str, bool]
    pending: frozenset[str]
    victims: tuple[Victim, ...]
    placements: Mapping[str, Mapping[str, str]]
    notes: tuple[str, ...]
    """What the simulation does not model and what it assumes."""
    loops: tuple[str, ...]
    """The pods of endless evictions, and the change that ends them with the fewest evictions."""

    @classmethod
    def of(cls, result: Mapping[str, Any], document: Mapping[str, Any]) -> "Outcome":
        """Return the figures of the core's result for a scenario."""
        cycles, picture = result["cycles"], CycleView(manifests.resolve(document), result)
        groups = {group["name"]: group for group in cycles[-1]["podgroups"]}
        steps = [step for cycle in cycles for step in cycle["decisions"]]
        rows = (Decision(**step) for step in decisions(result))
        return cls(
            queues={
                queue["name"]: {**queue, "share": share_of(queue)}
                for queue in cycles[-1]["at_end"].get("queues", ())
            },
            jobs={name: _job(group, picture) for name, group in groups.items()},
            ready={name: bool(group["ready"]) for name, group in groups.items()},
            pending=frozenset(
                task["pod"]
                for group in groups.values()
                for task in group["tasks"]
                if task["status"] in _WAITING
            ),
            victims=tuple(
                Victim(step["pod"], groups.get(step["job"], {}).get("queue", ""), step.get("for", ""))
                for step in steps
                if step["op"] == "evict" and step["state"] == "committed"
            ),
            placements={pod: asdict(place) for pod, place in placements_at_end(rows).items()},
            notes=tuple(result["notes"]),
            loops=tuple(
                entry["reason"]["sentence"]
                for loop in result.get("loops", ())
                for entry in (loop, *loop.get("changes", ())[:1])
                if "reason" in entry
            ),
        )


def _job(group: Mapping[str, Any], picture: CycleView) -> dict[str, Any]:
    pending = sum(task["status"] == "Pending" for task in group["tasks"])
    why, message = why_waiting(group, picture)
    return {
        "job": group["name"],
        "queue": group["queue"],
        "pods": len(group["tasks"]),
        "pending": pending,
        "waits": pending > 0 or awaits_pods(group),
        "ready": bool(group["ready"]),
        "gate": why.get("gate") or "",
        "message": message,
    }


def decisions(result: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the steps of a result in order, in the shape of the API."""
    parts = {"for_pod": "for"} | {
        name: name for name in ("action", "op", "job", "pod", "node", "reason", "state")
    }
    steps = [(cycle["cycle"], step) for cycle in result["cycles"] for step in cycle["decisions"]]
    return [
        {"seq": seq, "cycle": cycle, **{name: step.get(key) or "" for name, key in parts.items()}}
        for seq, (cycle, step) in enumerate(steps, 1)
    ]
