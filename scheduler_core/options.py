"""Options of a simulation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from scheduler_core.framework.extender_calls import Post
from scheduler_core.framework.reuse import Reuse
from scheduler_core.release import Release


@dataclass(frozen=True)
class Options:
    """Options of the simulation of a scenario.

    Attributes
    ----------
    explain : bool
        Whether explanations are collected.
    cycles : int, optional
        The number of sessions; None: as in the scenario.
    progress : callable, optional
        ``progress(done, what)`` is called from time to time, `done` from 0 to 1.
    timer : callable, optional
        A clock in milliseconds; with one, each cycle includes its timing.
    release : Release, optional
        The release to simulate; None: the one that the scenario names.
    reasons : bool
        Whether waiting pods and PodGroups have reasons; without them, jobs that fit nowhere take no time.
    counts_pipelined : bool
        Whether pipelined pods may be counted on nodes and queues without updating their jobs.
    extender : callable, optional
        Sends the requests of plugin extender, see `framework.extender_calls.Post`; without it calls fail.
    reuse : Reuse, optional
        State of the first session, shared by consecutive runs of one session each.
    shows : frozenset of str, optional
        Each cycle of the result has only these of `result.BRIEF_PARTS`, in brief; None: everything.
    job : str, optional
        The key of the one job that a brief result is about: it has only this PodGroup, with the tasks as in a
        full result. A session ends when no remaining action considers the job and none of its pods has a
        node; a failure in those actions is not noticed. For results of one cycle.

    """

    explain: bool = True
    cycles: int | None = None
    progress: Callable[[float, str], None] | None = None
    timer: Callable[[], float] | None = None
    release: Release | None = None
    reasons: bool = True
    counts_pipelined: bool = False
    extender: Post | None = None
    reuse: Reuse | None = None
    shows: frozenset[str] | None = None
    job: str | None = None
