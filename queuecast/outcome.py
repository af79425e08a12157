"""What did a simulation come to, in the few figures that rules ask about?"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Victim:
    """A pod that the plan evicts."""

    pod: str
    queue: str
    taker: str

    def __str__(self) -> str:
        return f"{self.pod} of queue {self.queue}, for {self.taker}"


@dataclass(frozen=True)
class Outcome:
    """The figures at the end of the last cycle; amounts in the scheduler's units."""

    queues: Mapping[str, Mapping[str, Any]]
    ready: Mapping[str, bool]
    pending: frozenset[str]
    victims: tuple[Victim, ...]

    @classmethod
    def of(cls, result: Mapping[str, Any]) -> "Outcome":
        """Return the figures of a result of the core."""
        cycles = result["cycles"]
        groups = {group["name"]: group for group in cycles[-1]["podgroups"]}
        steps = [step for cycle in cycles for step in cycle["decisions"]]
        return cls(
            queues={queue["name"]: queue for queue in cycles[-1]["at_end"]["queues"]},
            ready={name: bool(group["ready"]) for name, group in groups.items()},
            pending=frozenset(
                task["pod"]
                for group in groups.values()
                for task in group["tasks"]
                if task["status"] in ("Pending", "Pipelined")
            ),
            victims=tuple(
                Victim(step["pod"], groups.get(step["job"], {}).get("queue", ""), step.get("for", ""))
                for step in steps
                if step["op"] == "evict" and step["state"] == "committed"
            ),
        )
