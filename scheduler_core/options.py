"""How is a scenario simulated?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from scheduler_core.framework.extender_calls import Post
from scheduler_core.framework.reuse import Reuse
from scheduler_core.release import Release


@dataclass(frozen=True)
class Options:
    """How a scenario is simulated.

    Attributes
    ----------
    explain : bool
        Whether explanations are collected.
    cycles : int, optional
        How many sessions; None: what the scenario says.
    progress : callable, optional
        ``progress(done, what)`` is called now and then, `done` from 0 to 1.
    timer : callable, optional
        A clock in milliseconds; with one each cycle says how long it took.
    release : Release, optional
        The release that decides; None: the one that the scenario names.
    reasons : bool
        Whether pods and PodGroups that wait say why; without it jobs that fit nowhere cost nothing.
    counts_pipelined : bool
        Whether pods that are only pipelined may be counted on nodes and queues without their jobs saying so.
    extender : callable, optional
        How plugin extender reaches its service, see `framework.extender_calls.Post`; without it calls fail.
    reuse : Reuse, optional
        What the session finds, shared by runs of one session each, one after the other.
    shows : frozenset of str, optional
        Each cycle of the result has only these of `result.BRIEF_PARTS`, in brief; None: everything.
    job : str, optional
        The key of the one job that a brief result is about: its PodGroups are this one, with the tasks as in
        a whole result. A session ends when no action that is left looks at the job and none of its pods has
        a place; that one of these actions fails is not noticed then. For results of one cycle.

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
