"""What the rules of a check are evaluated on, and what they return."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from planning.forecasts.record import Record
from queuecast.outcome import Outcome
from scheduler_core.explain import podgroup_keys
from scheduler_core.queue_edits import MADE_BY_VOLCANO, below

Status = Literal["kept", "broken", "skipped"]


def parents_of(document: Mapping[str, Any]) -> dict[str, str]:
    """Return the parent of every queue of a document, those that Volcano makes included."""
    made = dict.fromkeys(MADE_BY_VOLCANO, "")
    return made | {
        queue["metadata"]["name"]: (queue.get("spec") or {}).get("parent") or ""
        for queue in document.get("queues") or ()
    }


@dataclass(frozen=True)
class Compared:
    """The plan, with its outcome and that of the snapshot."""

    document: Mapping[str, Any]
    before: Outcome
    after: Outcome
    forecast: Record | None = None
    """The forecast of the plan under the check's workload; None without one."""
    forecast_before: Record | None = None
    """The forecast of the snapshot under the same workload; None if no rule compares with it."""

    @property
    def parents(self) -> dict[str, str]:
        """Return the parent of every queue of the plan."""
        return parents_of(self.document)

    def tree(self, queue: str) -> list[str]:
        """Return a queue and its descendants."""
        if queue == "root":
            return sorted(self.parents)
        return [queue, *below(queue, self.parents)]

    def podgroup(self, job: str) -> str:
        """Return the PodGroup of a vcjob named like the job; a PodGroup's own name is unchanged."""
        if job in self.after.ready:
            return job
        return next(podgroup_keys(self.document, job), job)


Result = tuple[Status, str]
KEPT: Result = ("kept", "")


def unless(facts: Sequence[str], most: int = 5) -> Result:
    """Return that a rule holds unless there are facts against it."""
    if not facts:
        return KEPT
    more = f" and {len(facts) - most} more" if len(facts) > most else ""
    return "broken", "; ".join(facts[:most]) + more
