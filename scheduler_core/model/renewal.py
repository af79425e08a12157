"""The differences between the inputs of two successive sessions."""

from __future__ import annotations

from dataclasses import dataclass, field

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

    """

    anew: bool = False
    jobs: dict[str, JobInfo | None] = field(default_factory=dict)
    before: dict[str, JobInfo | None] = field(default_factory=dict)
    nodes: dict[int, list[int]] = field(default_factory=dict)
    queues: set[str] = field(default_factory=set)
    counted: dict[str, JobInfo] = field(default_factory=dict)
    other_queues: bool = False

    def replace(self, key: str, before: JobInfo | None, job: JobInfo | None) -> None:
        """Record that a job replaces another one."""
        self.before[key], self.jobs[key] = before, job
        self.queues.update([either.queue for either in (before, job) if either is not None])
