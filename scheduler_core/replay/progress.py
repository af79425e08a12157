"""The progress of a pod's work, and the part that survives when the pod stops."""

from __future__ import annotations

from dataclasses import dataclass
from math import floor, inf


@dataclass
class Life:
    """The state of a pod in addition to its object.

    Attributes
    ----------
    uid : str
        The uid with which it was first created.
    job : str
        The key of its PodGroup, empty without one.
    returns : int
        How often it was created again.
    restarts : int
        How often its container was restarted in place.
    backs_off : bool
        Whether its container waits for such a restart.
    duration : float or None
        How long its work takes without interruption; None: forever.
    saved : float
        Work done that survives an eviction.
    restores : float
        How many seconds restoring saved work takes at the beginning of this run.
    started : float or None
        When it started to run; None: it does not run.
    since : float or None
        When its work started to progress; None: it does not progress, as the pod does not run or a member of
        its gang is missing.
    done : float
        For how long its work had progressed in this run before `since`.
    ran : float
        The run time after which it succeeded; 0 once that is counted as lost.
    terminates : bool
        Whether it is terminating.
    vanishes : float
        When a terminating pod that fails first is deleted.
    succeeded, failed : bool
        Whether it has succeeded or failed.
    vcjob : str
        The key of the Job that controls it, empty without one.
    task : str
        Its task in that Job.
    version : int
        The version of that Job when it was created.
    out_of_sync : bool
        Whether the Job's controller deletes it; its end is then no event of the Job.
    on_lost_node : bool
        Whether its node no longer responds.

    """

    uid: str
    job: str
    returns: int = 0
    restarts: int = 0
    backs_off: bool = False
    duration: float | None = None
    saved: float = 0.0
    restores: float = 0.0
    started: float | None = None
    since: float | None = None
    done: float = 0.0
    ran: float = 0.0
    terminates: bool = False
    vanishes: float = 0.0
    succeeded: bool = False
    failed: bool = False
    vcjob: str = ""
    task: str = ""
    version: int = 0
    out_of_sync: bool = False
    on_lost_node: bool = False

    @property
    def runs(self) -> bool:
        """Return whether the pod runs and is not terminating."""
        return self.started is not None and not self.terminates and not self.has_ended

    @property
    def has_ended(self) -> bool:
        """Return whether the pod has succeeded or failed."""
        return self.succeeded or self.failed

    @property
    def left(self) -> float | None:
        """Return how long its work still takes in this run; None: forever."""
        if self.duration is None:
            return None
        return self.duration - self.saved + self.restores - self.done

    def start(self, time: float, restores: float) -> None:
        """Begin a run; restoring saved work takes `restores` seconds."""
        self.started, self.since, self.done = time, None, 0.0
        self.restores = restores if self.saved > 0 else 0.0

    def resume(self, time: float) -> None:
        """Continue the work."""
        self.since = time

    def pause(self, time: float) -> None:
        """Pause the work."""
        if self.since is not None:
            self.done += time - self.since
            self.since = None

    def stop(self, time: float, interval: float) -> float:
        """End a run that is interrupted, and return the seconds of it that are lost.

        Parameters
        ----------
        time : float
            When.
        interval : float
            Seconds of work between two checkpoints; 0: there are none, infinite: no work is lost.

        """
        if self.started is None:
            return 0.0
        self.pause(time)
        gained = _gained(self.saved, max(self.done - self.restores, 0.0), interval)
        lost = time - self.started - gained
        self.saved += gained
        self.started, self.done, self.restores = None, 0.0, 0.0
        return lost

    def finish(self, time: float) -> float:
        """End a run whose work is done; return how many seconds of it were without progress."""
        work = 0.0 if self.duration is None else self.duration - self.saved
        paused = self.started is not None and (self.restores > 0 or self.done > 0)
        lost = time - self.started - work if paused and self.started is not None else 0.0
        self.ran = work
        self.started, self.since, self.done, self.restores = None, None, 0.0, 0.0
        return lost


def _gained(saved: float, done: float, interval: float) -> float:
    """Return how much more work is saved after another `done` seconds."""
    if interval == inf:
        return done
    if interval <= 0:
        return 0.0
    return floor((saved + done) / interval) * interval - saved
