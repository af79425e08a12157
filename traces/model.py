"""The model of a trace: jobs with submission, size and run time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any


@dataclass(frozen=True, slots=True)
class Role:
    """Equal pods of a job.

    Attributes
    ----------
    pods : int
        How many pods these are.
    requests : mapping
        Per pod, Kubernetes quantities by resource; a resource that is missing is unknown.
    constraints : mapping or None
        Which nodes the pods may run on: `nodeSelector`, `tolerations` and `affinity` as in the specification
        of a pod; None: the trace does not say.
    annotations : mapping
        Of each pod, such as ``volcano.sh/preemptable``; see `traces.annotations`.

    """

    pods: int = 1
    requests: Mapping[str, str] = field(default_factory=dict)
    constraints: Mapping[str, Any] | None = None
    annotations: Mapping[str, str] = field(default_factory=dict)


def equal_pods(pods: int, requests: Mapping[str, str]) -> tuple[Role, ...]:
    """Return the only role of a job of equal pods; a million jobs share few."""
    return _equal_pods(pods, tuple(requests.items()))


@lru_cache(maxsize=4096)
def _equal_pods(pods: int, requests: tuple[tuple[str, str], ...]) -> tuple[Role, ...]:
    return (Role(pods, dict(requests)),)


@dataclass(frozen=True, slots=True)
class TraceJob:
    """One job of a trace.

    Attributes
    ----------
    name : str
        Unique in its trace.
    queue : str
        As the trace calls it; empty when it names none.
    submitted : float
        Seconds since the beginning of the trace.
    run_seconds : float or None
        How long its pods ran; None: the trace does not say.
    roles : tuple of Role
        Its pods, such as a master and workers; pods are created in this order.
    min_member : int
        How many must run at once.
    user, priority_class : str
        Empty when the trace names none.
    min_resources : mapping or None
        What its PodGroup reserves when it is enqueued, Kubernetes quantities by resource; empty: nothing, so
        that it is enqueued at once; None: the trace does not say.
    annotations : mapping
        Of its PodGroup, such as ``sla-waiting-time``; see `traces.annotations`.

    """

    name: str
    queue: str
    submitted: float
    run_seconds: float | None
    roles: tuple[Role, ...] = (Role(),)
    min_member: int = 1
    user: str = ""
    priority_class: str = ""
    min_resources: Mapping[str, str] | None = None
    annotations: Mapping[str, str] = field(default_factory=dict)

    @property
    def pods(self) -> int:
        """Return the number of its pods."""
        roles = self.roles
        return roles[0].pods if len(roles) == 1 else sum(role.pods for role in roles)


@dataclass(frozen=True)
class Trace:
    """A workload.

    Attributes
    ----------
    jobs : tuple of TraceJob
        By submission, then name.
    begin : str
        The RFC 3339 time at which the trace begins; empty when it only has relative times.
    notes : tuple of str
        What was assumed or left out while it was read.

    """

    jobs: tuple[TraceJob, ...]
    begin: str = ""
    notes: tuple[str, ...] = ()

    @property
    def span(self) -> float:
        """Return the seconds from the beginning to the last submission."""
        return self.jobs[-1].submitted if self.jobs else 0.0

    def queues(self) -> dict[str, int]:
        """Return the number of jobs of each queue, largest first."""
        counts: dict[str, int] = {}
        for job in self.jobs:
            counts[job.queue] = counts.get(job.queue, 0) + 1
        return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


@dataclass(frozen=True)
class TraceProblem:
    """A problem of a trace, and its place.

    Attributes
    ----------
    line : int
        From 1; 0 for the file as a whole.
    column : str
        The column or field; empty for the whole line.
    message, fix : str
        What is wrong, and what to write.

    """

    line: int
    column: str
    message: str
    fix: str = ""

    def __str__(self) -> str:
        where = f"line {self.line}" if self.line else "the file"
        column = f", {self.column}" if self.column else ""
        return f"{where}{column}: {self.message}" + (f" ({self.fix})" if self.fix else "")


class Unreadable(Exception):
    """A trace cannot be read; `problems` has the first hundred problems."""

    def __init__(self, problems: Sequence[TraceProblem]) -> None:
        super().__init__("\n".join(map(str, problems)))
        self.problems = tuple(problems)


def ordered(jobs: Sequence[TraceJob], begin: str = "", notes: Sequence[str] = ()) -> Trace:
    """Return a trace of these jobs, sorted by submission."""
    return Trace(tuple(sorted(jobs, key=lambda job: (job.submitted, job.name))), begin, tuple(notes))
