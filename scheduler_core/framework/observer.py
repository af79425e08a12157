"""Reports of a session while it decides, and an observer that ignores them.

Observers only read; the decisions are the same with any of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from scheduler_core.decision import Why
from scheduler_core.model.fit import FitErrors
from scheduler_core.model.job import JobInfo, TaskInfo
from scheduler_core.model.queue import QueueInfo
from scheduler_core.resource import Resource

Explanation = dict[str, Any]

REFUSED = "refused"
DISJOINT = "disjoint"
DECIDED = "decided"


class Votes:
    """The plugins' answers about candidates for eviction; this class ignores them.

    The plugins of one tier whose answers are combined form a ballot. It ends as `DECIDED`: the victims are
    the candidates that all of them accept; `REFUSED`: the last one accepts no candidate, which ends its tier;
    or `DISJOINT`: each accepts some, but no candidate is accepted by all.
    """

    __slots__ = ()

    def reasons(self) -> Why | None:
        """Return the mapping in which a plugin stores its reasons by uid; None if they are not recorded."""

    def answered(self, tier: int, plugin: str, accepted: Sequence[TaskInfo] | None, why: Why | None) -> None:
        """Receive the answer of one plugin; None: it abstained."""

    def close(self, outcome: str, victims: Sequence[TaskInfo] = ()) -> None:
        """End a ballot; the next answer starts another one."""


UNRECORDED = Votes()


class ChosenNode(NamedTuple):
    """A node chosen for some tasks of a gang.

    Attributes
    ----------
    needed : Resource
        The requests of these tasks.
    allowed : list of TaskInfo
        All tasks on the node that may be evicted.

    """

    node: int
    needed: Resource
    allowed: list[TaskInfo]


class Observer:
    """Receives the reasons why jobs wait and why tasks are evicted; this class ignores them.

    Attributes
    ----------
    listens : bool
        Whether plugins must give reasons.

    """

    listens = False

    # why a job waits

    def job_invalid(self, job: JobInfo, message: str) -> None:
        """Receive that an action skips a job because a plugin finds it invalid."""

    def job_rejected(self, job: JobInfo, why: Why) -> None:
        """Receive that a job is not enqueued."""

    def queue_overused(self, queue: QueueInfo, jobs: Iterable[JobInfo]) -> None:
        """Receive that the remaining jobs of a queue get no turn because the queue is overused."""

    def reclaim_refused(self, job: JobInfo, why: Why) -> None:
        """Receive that a job's queue may not reclaim for it."""

    def queue_full(self, job: JobInfo, task: TaskInfo, why: Why) -> None:
        """Receive that a job's queue may not allocate for a task."""

    def gated(self, job: JobInfo) -> None:
        """Receive that tasks of a job may have a scheduling gate."""

    def fits_nowhere(self, task: TaskInfo, errors: FitErrors) -> None:
        """Receive that no node accepts a task."""

    def no_score(self, task: TaskInfo) -> None:
        """Receive that nodes would accept a task, but none has a score."""

    def placement_failed(self, task: TaskInfo, why: str) -> None:
        """Receive that a task was not placed on the node found for it."""

    # why tasks are evicted, and others are not

    def votes(self) -> Votes:
        """Return the receiver of the plugins' answers about some candidates."""
        return UNRECORDED

    def plugins_voted(self, for_task: TaskInfo, candidates: Sequence[TaskInfo], votes: Votes) -> None:
        """Receive the plugins' answers about the candidates on a node; they replace earlier ones."""

    def plugins_voted_for_gang(
        self, job: JobInfo, candidates: Callable[[], Sequence[TaskInfo]], votes: Votes
    ) -> None:
        """Receive the plugins' answers about the candidates on the nodes chosen for a gang."""

    def nodes_left_out(self, for_task: TaskInfo, count: int) -> None:
        """Receive the number of nodes skipped in a search for victims, as evictions there could not help."""

    def explain_eviction(
        self,
        victim: TaskInfo,
        for_task: TaskInfo,
        votes: Votes,
        next_victim: TaskInfo | None,
        *,
        dry_run: bool,
    ) -> Explanation | None:
        """Return why a task is about to be evicted for another one; `next_victim` would be evicted next."""

    def explain_gang_eviction(
        self,
        victim: TaskInfo,
        job: JobInfo,
        demand: Sequence[TaskInfo],
        votes: Votes,
        chosen: Sequence[ChosenNode],
    ) -> Explanation | None:
        """Return why a task is about to be evicted for the `demand` of a job."""

    def explain_shuffle(
        self, victim: TaskInfo, tier: int, order: int, plugins: Sequence[str]
    ) -> Explanation | None:
        """Return why shuffle evicted a task that some plugins of a tier named."""

    # what queues deserve

    def derived(self, plugin: str, queue: str, steps: Iterable[Mapping[str, Any]]) -> None:
        """Receive the steps in which a plugin derived what a queue deserves."""


UNOBSERVED = Observer()


def unobserved(_session: object) -> Observer:
    """Return the observer of a session without reasons."""
    return UNOBSERVED
