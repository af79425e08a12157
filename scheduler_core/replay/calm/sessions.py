"""The beginning and the end of a calm, and the sessions in it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from operator import is_
from typing import Any

from scheduler_core.framework.closing import phase_of
from scheduler_core.framework.session import Session
from scheduler_core.model.job import JobInfo
from scheduler_core.model.job_index import is_settled
from scheduler_core.model.queue_account import QueueAccount
from scheduler_core.plugins.capacity.account import CapacityAccount
from scheduler_core.replay.agenda import Due, Kind
from scheduler_core.replay.calm.actions import CalmActions, NotCalmError
from scheduler_core.replay.calm.arrivals import Arrival, Arrivals
from scheduler_core.replay.calm.conditions import is_simple, places_at_once
from scheduler_core.replay.calm.jobs import CalmJobs, Places
from scheduler_core.replay.calm.kinds import JobKinds
from scheduler_core.replay.course import Course
from scheduler_core.replay.fixpoint import Change
from scheduler_core.simulate import Simulation

Object = Mapping[str, Any]

SHORT_CALM, LONGEST_PAUSE = 32, 64
"""After a calm of fewer sessions than the first number, the next one may only begin after a pause, which
doubles each time, up to the second number of sessions: beginning and leaving a calm takes longer than a few
of its sessions."""


class Calm:
    """The calm sessions of a replay.

    Attributes
    ----------
    session : Session or None
        The session of the living state while it is calm, else None.

    """

    def __init__(self, simulation: Simulation, course: Course) -> None:
        self.simulation = simulation
        self.course = course
        self.world = course.world
        self.session: Session | None = None
        self._arrivals: dict[str, Arrival] = {}
        self._read = Arrivals(self.world.timeline.events)
        self._may_begin = False
        self._pause = self._last_pause = self._sessions = 0
        self._obstacle = ""
        self._kinds_from: tuple[object, ...] = (None, None, None)
        self._is_possible = simulation.state is not None and places_at_once(self.world.admission.document)

    # events

    def process(self, due: Due) -> bool:
        """Process the arrival or the end of a job; return False for all other events."""
        if not self._is_possible:
            return False
        if due.kind is Kind.EVENT:
            return self._arrive(int(due.key), due.time)
        if self.session is None or due.kind is not Kind.FINISH:
            return False
        return self._end(self.session, due)

    def _arrive(self, position: int, time: float) -> bool:
        arrival = self._read.of(position)
        if arrival is None:
            return False
        kind = None if self.session is None else self._kinds.of(arrival)
        if kind is not None and self._jobs.add_arrival(arrival, kind, time):
            return True
        self._arrivals[arrival.key] = arrival
        return False

    def _end(self, session: Session, due: Due) -> bool:
        """End a pod, and possibly its job; return False if the pod's end has further consequences."""
        life, state = self.world.lives.get(str(due.key)), self.simulation.state
        found: Places = []
        if life is not None and state is not None:
            if life.vcjob or life.terminates or life.job not in session.jobs:
                return False
            found = state.places_of(life.job)
            self._arrivals.pop(life.job, None)
        places = self._jobs.end(due, found)
        if places is not None:
            self._actions.release(places)
        return True

    # beginning

    def record_session(self, session: Session) -> None:
        """Note whether a calm may begin after a session in which the actions have decided."""
        self._pause = max(self._pause - 1, 0)
        self._may_begin = (
            self._is_possible
            and not self._pause
            and not session.nodes.releasing_or_pipelined
            and self._obstacle not in session.snapshot.index.waiting
        )

    def begin(self) -> None:
        """Begin a calm if the state after the last session is simple enough."""
        if not self._may_begin:
            return
        self._may_begin, self._obstacle = False, ""
        session = self.simulation.open_session()
        waiting = session.snapshot.index.waiting
        found = [job for key, job in session.moved.found.items() if key not in waiting]
        if not is_simple(session) or self._is_disturbed() or not all(map(self._runs, found)):
            return
        origin = session, session.snapshot, session.conf
        if not all(map(is_, origin, self._kinds_from)):
            self._kinds_from, self._kinds = origin, JobKinds(self.simulation, session)
        self._jobs = CalmJobs(session, self.course, found)
        for key, job in waiting.items():
            if not self._add_waiting(job):
                self._obstacle = key
                return
        self.session, self._sessions = session, 0
        self._moved: set[str] | None = None
        self._actions = CalmActions(session, self._kinds)

    def _is_disturbed(self) -> bool:
        """Return whether a queue is closing, or a node is lost, on which no bound pod runs."""
        return self.world.has_closing_queue or self.course.machines.any_is_lost

    def _runs(self, job: JobInfo) -> bool:
        """Return whether all pods of a job run, and no vcjob controls it."""
        runs = is_settled(job) and phase_of(job) == "Running" and not job.unschedulable
        return runs and job.key not in self.world.vcjob_groups

    def _add_waiting(self, job: JobInfo) -> bool:
        """Add a waiting job to a line; False if it is not simple enough."""
        arrival = self._arrivals.get(job.key)
        kind = None if arrival is None else self._kinds.of(arrival)
        return arrival is not None and kind is not None and self._jobs.add_waiting(job, arrival, kind)

    # sessions

    def renewed(self) -> Session | None:
        """Return the renewed session, before any decision; None if it is not calm.

        It is not calm if some, but not all, of a job's pods have ended.
        """
        if self.session is not None and self._jobs.ending:
            self.leave()
        if self.session is not None and not self._renew(self.session):
            self.simulation.reopen()
            self.leave()
        return self.session

    def _renew(self, session: Session, queues: Collection[str] = ()) -> bool:
        """Update the sums of queues; return False if the session must be opened again."""
        sums, parts, tried = session.snapshot.sums, self._jobs.parts, self._actions.tried
        moved = sums.exchange(parts)
        moved.update(queues, tried)
        parts.clear()
        tried.clear()
        self._moved = None if self._moved is None else moved
        return session.renew_queues(moved)

    def accounts(self) -> Iterable[QueueAccount]:
        """Return the accounts of the queues that may have changed since the last session."""
        session, moved = self.session, self._moved
        assert session is not None, "it is calm"
        accounts = session.queue_accounts()
        if moved is None or self._actions.limits_move:
            return accounts.values()
        names = sorted(moved if self._actions.is_flat else self._with_ancestors(moved, accounts))
        return [accounts[name] for name in names if name in accounts]

    def _with_ancestors(self, names: Iterable[str], accounts: Mapping[str, QueueAccount]) -> set[str]:
        found = set(names)
        for name in names:
            account = accounts.get(name)
            if isinstance(account, CapacityAccount):
                found.update(account.ancestors)
        return found

    def decide(self, time: float) -> Change | None:
        """Decide, and return how much that changes; None: the session is not calm, and nothing is decided."""
        session, jobs = self.session, self._jobs
        assert session is not None, "it is calm"
        try:
            everything = jobs.pending if self._moved is None else self._moved
            decided = self._actions.decide(jobs.pending, jobs.enqueued, everything)
        except NotCalmError:
            self.leave(session.known_to_wait or ())
            return None
        self._moved = set()
        self._sessions += 1
        change = jobs.close()
        for job in decided.enqueued:
            jobs.enqueue(job, time)
        for job, nodes in decided.placed:
            jobs.run(job, nodes, time)
        return Change.STATE if session.decisions else change

    # leaving

    def leave(self, queues: Collection[str] = ()) -> None:
        """End the calm: write the objects of all jobs without any.

        `queues` are those changed by a session that was abandoned.
        """
        self._may_begin = False
        session, state = self.session, self.simulation.state
        if session is None or state is None:
            return
        self.session = session.known_to_wait = None
        self._last_pause = 0 if self._sessions >= SHORT_CALM else min(2 * self._last_pause + 1, LONGEST_PAUSE)
        self._pause = self._last_pause
        if not self._renew(session, queues):
            self.simulation.reopen()
        self._arrivals.update(self._jobs.write())
        state.rebuild_nodes(self._jobs.nodes())
