"""The differences between the inputs of two successive sessions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from scheduler_core.model.gang import NOT_ENQUEUED
from scheduler_core.model.job import JobInfo


@dataclass
class Renewal:
    """The differences between the inputs of two successive sessions.

    Attributes
    ----------
    anew : bool
        Whether everything was rebuilt; the other attributes then have no meaning.
    jobs : dict
        The rebuilt jobs, by key; None: the job was deleted.
    before : dict
        The jobs that these replace, in the state after the last session, by key; None: there was none.
    nodes : dict
        The numbers of the tasks on the rebuilt nodes, by node number.
    queues : set of str
        The current and previous queues of these jobs; of a job that was added and removed since, the queue
        that counted it.
    counted : dict
        The jobs that the last session counted as pipelined, by key: they are unchanged, but plugins received
        their events.
    other_queues : bool
        Whether the objects of some queues were replaced, under the same names.
    is_still : bool
        Whether no pod was added, changed or removed, and jobs changed only in phases: those are enqueued now
        that were enqueued after the enqueue action of the last session.

    """

    anew: bool = False
    jobs: dict[str, JobInfo | None] = field(default_factory=dict)
    before: dict[str, JobInfo | None] = field(default_factory=dict)
    nodes: dict[int, list[int]] = field(default_factory=dict)
    queues: set[str] = field(default_factory=set)
    counted: dict[str, JobInfo] = field(default_factory=dict)
    other_queues: bool = False
    is_still: bool = False

    def replace(self, key: str, before: JobInfo | None, job: JobInfo | None) -> None:
        """Record that a job replaces another one."""
        self.before[key], self.jobs[key] = before, job
        self.queues.update([either.queue for either in (before, job) if either is not None])


def is_still(job: JobInfo, podgroup: Mapping[str, Any] | None) -> bool:
    """Return whether a PodGroup is the job's, except for the status that the last session wrote.

    After that session's enqueue action the job was enqueued if, and only if, it is enqueued now.
    """
    if podgroup is None or any(
        podgroup.get(part) is not job.podgroup.get(part) for part in ("metadata", "spec")
    ):
        return False
    if ((podgroup.get("status") or {}).get("phase") or "") != job.phase:
        return False
    return job.is_pending == (job.phase_before in NOT_ENQUEUED and job.phase != "Inqueue")
