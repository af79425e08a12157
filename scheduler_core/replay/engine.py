"""The loop of a replay: due events happen, a session decides, its decisions are written.

A session is a function of the state and, with plugins that read the clock, of the time. A session that
changed nothing would change nothing again until the next event is due or such a plugin decides differently
(`replay.clocks`): sessions before that are skipped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from math import floor, isfinite
from typing import Any, NamedTuple

from scheduler_core.admission import Admission
from scheduler_core.conf import parse_conf
from scheduler_core.failure import failed
from scheduler_core.fault import NOT_OURS
from scheduler_core.framework.closing import close_session
from scheduler_core.framework.session import Session
from scheduler_core.model.pod_info import creation_of
from scheduler_core.model.queue_account import QueueAccount
from scheduler_core.model.timestamps import format_time
from scheduler_core.options import Options
from scheduler_core.release import Release
from scheduler_core.rendering import number
from scheduler_core.replay.calm import Calm
from scheduler_core.replay.clocks import next_reading
from scheduler_core.replay.course import Course
from scheduler_core.replay.fixpoint import Change
from scheduler_core.replay.notes import replay_notes
from scheduler_core.replay.records import Records
from scheduler_core.replay.timeline import Timeline
from scheduler_core.replay.world import World
from scheduler_core.replay.writing import write_session
from scheduler_core.simulate import Simulation
from scheduler_core.validate import Inspection

TIMES = frozenset({"replay", "now", "cycles", "cycle_seconds", "termination_cycles", "evicted", "jobs"})
"""Keys of a document that a moment of its replay leaves out; `jobs` have become PodGroups and pods."""


class Step(NamedTuple):
    """One computed session.

    Attributes
    ----------
    time : float
        Seconds from the beginning.
    session : Session
        The closed session.
    change : Change
        How much of the state that later sessions read it changed.
    reading : float or None
        When a plugin next decides differently because of the time, in seconds since 1970; None: never.

    """

    time: float
    session: Session
    change: Change
    reading: float | None


class Replay:
    """A replay of a document without errors.

    Parameters
    ----------
    document : mapping
        A scenario with the key `replay`.
    skips : bool
        Whether sessions that would change nothing are skipped.
    anew : bool
        Whether each session is opened on a rebuilt snapshot, with the same result but more slowly.
    frozen : mapping, optional
        The return value of `freeze`, from which the replay continues.

    """

    def __init__(
        self,
        document: Mapping[str, Any],
        inspection: Inspection,
        *,
        skips: bool = True,
        anew: bool = False,
        frozen: Mapping[str, Any] | None = None,
    ) -> None:
        assert inspection.conf is not None, "the document has no errors"
        objects = {**document, "jobs": []}
        admission = Admission(objects, inspection.read_pods(), release=inspection.conf.release)
        self.timeline = Timeline.read(document)
        self.records = Records() if frozen is None else Records.thawed(frozen["records"])
        options = Options(explain=False, reasons=anew, counts_pipelined=not anew, cycles=1)
        self._simulation = Simulation(objects, inspection.conf, admission, options)
        self._simulation.live(anew=anew)
        jobs = Admission.listed(document, "jobs")
        if not document.get("now"):
            created = [time for time in map(creation_of, jobs) if isfinite(time)]
            self._simulation.cluster.now = max([self._simulation.cluster.now, *created])
        before = None if frozen is None else frozen["world"]
        self._world = World(self._simulation.cluster, admission, self.timeline, self.records, before)
        self._course = Course(self._world, jobs, before)
        self._calm = Calm(self._simulation, self._course)
        self.document = document
        self.skips = skips
        self._applied: object = None
        self.sessions = self.computed = 0
        self.end = 0.0
        self._next: int | None = 0
        if frozen is not None:
            self._next, self.sessions, self.end = frozen["next"], frozen["sessions"], frozen["end"]
            self._simulation.kept.update(frozen["kept"])

    def steps(self) -> Iterator[Step]:
        """Yield the sessions one after the other, each after its decisions are written."""
        last = self.timeline.last_session
        while self._next is not None and self._next <= last:
            current = self._next
            time = current * self.timeline.period
            self._calm.begin()
            self.process(time)
            step = self._session(time)
            self.sessions, self.end = current + 1, time
            self.computed += 1
            self._next = self._after(current, step)
            yield step
        if self._next is not None:
            self.sessions, self.end = last + 1, last * self.timeline.period

    @property
    def world(self) -> World:
        """Return the world after writing all objects."""
        self._calm.leave()
        return self._world

    @property
    def simulation(self) -> Simulation:
        """Return the simulation after writing all objects."""
        self._calm.leave()
        return self._simulation

    @property
    def next_time(self) -> float | None:
        """Return when the next session is computed, None if nothing more can happen."""
        return None if self._next is None else self._next * self.timeline.period

    def process(self, time: float) -> None:
        """Process the events that are due by a time."""
        while (due := self._world.agenda.pop(time)) is not None:
            if not self._calm.process(due):
                self._calm.leave()
                self._course.process(due)

    def _after(self, current: int, step: Step) -> int | None:
        """Return the number of the next session to compute, None if nothing more can happen.

        A session that changed only phases is followed by one more, which is the last if no event is planned.
        """
        if step.change is Change.STATE:
            return current + 1
        due, after = self._world.agenda.next_time(), self.timeline.session_at_or_after
        if due is None and step.reading is None:
            return None if step.change is Change.NOTHING else current + 1
        if not self.skips:
            return current + 1
        numbers = [] if due is None else [after(due, current + 1)]
        if step.reading is not None:
            numbers.append(after(step.reading, current + 1, self._world.begin))
        return min(numbers)

    def freeze(self) -> dict[str, Any]:
        """Return the state between two steps as plain data; a replay made from it gives the same bytes."""
        self._calm.leave()
        kept = {name: value for name, value in self._simulation.kept.items() if isinstance(value, float)}
        return {
            "next": self._next,
            "sessions": self.sessions,
            "end": self.end,
            "kept": kept,
            "records": self.records.frozen(),
            "world": self._course.frozen(),
        }

    def moment(self, time: float | None = None) -> dict[str, Any]:
        """Return the input of the next session as a scenario.

        A run of it decides as that session does, unless a plugin keeps state across sessions (tdm). After the
        end of the replay it is the input of one more session. `time` selects an earlier session than the next
        computed one; the sessions in between would change nothing.
        """
        if time is None:
            period = self.timeline.period
            time = self.end + period if self._next is None else self._next * period
        self.process(time)
        self._calm.leave()
        now = format_time(floor(self._world.begin + time))
        settings = {name: value for name, value in self.document.items() if name not in TIMES}
        if self._world.scheduler_conf is not None:
            settings["scheduler_conf"] = self._world.scheduler_conf
        return {**settings, **self._world.objects(), "now": now}

    def run(self, watch: Callable[[Replay], None] | None = None) -> dict[str, Any]:
        """Return the result of all steps, into which the rows of the records move.

        `watch` is called after each step.
        """
        for _ in self.steps():
            if watch is not None:
                watch(self)
        return {
            "notes": [*self._simulation.notes, *replay_notes(self.document, self.records)],
            "sessions": self.sessions,
            "period_seconds": number(self.timeline.period),
            "end_seconds": number(self.end),
            **self.records.result(),
        }

    def _session(self, time: float) -> Step:
        self._world.cluster.now = self._world.begin + time
        self._configure()
        return self._calm_session(time) or self._session_of_actions(time)

    def _calm_session(self, time: float) -> Step | None:
        """Return a calm session, None if the actions must decide."""
        session = self._calm.renewed()
        if session is None:
            return None
        self._record(session, time, self._calm.accounts())
        change = self._calm.decide(time)
        if change is None:
            return None
        self.records.record_decisions(time, session.decisions)
        return Step(time, session, change, None)

    def _session_of_actions(self, time: float) -> Step:
        session = self._simulation.open_session()
        self._record(session, time, session.queue_accounts().values())
        for action in self._simulation.conf.actions:
            self._simulation.act(session, action)
        close_session(session)
        step = Step(time, session, write_session(self._course, session, time), next_reading(session))
        self._calm.record_session(session)
        return step

    def _record(self, session: Session, time: float, accounts: Iterable[QueueAccount]) -> None:
        """Record the input of a session; the accounts include all that changed."""
        self.records.record_queues(time, accounts)
        self.records.free_room.record(time, session.snapshot.nodes)

    def _configure(self) -> None:
        """Apply the configuration of an event of the document."""
        conf = self._world.scheduler_conf
        if conf is not self._applied:
            self._simulation.configure(parse_conf(conf, self._simulation.conf.release))
            self._applied = conf


def replay_document(
    document: Mapping[str, Any],
    *,
    skips: bool = True,
    watch: Callable[[Replay], None] | None = None,
    release: Release | None = None,
) -> dict[str, Any]:
    """Return the result of a replay; one that cannot be replayed has the key `error`.

    Parameters
    ----------
    document : mapping
        A scenario whose `scheduler_conf` is a structure, with the key `replay`.
    skips : bool
        Whether sessions that would change nothing are skipped; the result is the same.
    watch : callable, optional
        ``watch(replay)`` is called after each session that is computed.
    release : Release, optional
        The simulated release; None: the one that the document names.

    """
    answer: dict[str, Any] = {"name": str(document.get("name") or "")}
    try:
        inspection = Inspection(document, release=release)
        errors = [problem.message for problem in inspection.errors()]
        if "replay" not in document:
            errors.append("replay is missing: write period_seconds, horizon_seconds and events")
        if errors or inspection.conf is None:
            more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
            return {**answer, "error": errors[0] + more, "notes": []}
        return {**answer, **Replay(document, inspection, skips=skips).run(watch)}
    except NOT_OURS:
        raise
    except Exception as error:
        return failed(answer, error)
