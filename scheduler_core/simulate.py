"""The simulation of a scenario: its sessions, one after another."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import copy
from dataclasses import replace
from itertools import islice
from typing import Any

from scheduler_core import result as shown
from scheduler_core.actions.registry import ACTIONS
from scheduler_core.admission import Admission
from scheduler_core.assumptions import crash_notes, cycle_notes, node_notes, plugin_notes, release_notes
from scheduler_core.conf import SchedulerConf
from scheduler_core.controllers import bare_nodes
from scheduler_core.cycles import ClusterTransition
from scheduler_core.framework.closing import close_session, queue_allocated
from scheduler_core.framework.extender_calls import KEPT, ExtenderCalls
from scheduler_core.framework.fitting import fitting
from scheduler_core.framework.observer import unobserved
from scheduler_core.framework.session import Session
from scheduler_core.framework.worklist import is_left_out
from scheduler_core.model.journal import PodGroups
from scheduler_core.model.snapshot import Snapshot, take_snapshot
from scheduler_core.model.state import State
from scheduler_core.model.status import TaskStatus
from scheduler_core.model.unmodelled import daemon_notes, queue_notes, quota_notes
from scheduler_core.options import Options
from scheduler_core.plugins.registry import OPENERS
from scheduler_core.recording.recorder import Recorder
from scheduler_core.recurrence import Recurrence
from scheduler_core.rendering import plain
from scheduler_core.resource_list import quantities

Object = Mapping[str, Any]


class Simulation:
    """The sessions of one scenario, one after another.

    Parameters
    ----------
    document : mapping
        A scenario without errors.
    conf : SchedulerConf
        Its configuration.
    admission : Admission
        Its objects.
    options : Options
        The options.

    """

    def __init__(
        self, document: Mapping[str, Any], conf: SchedulerConf, admission: Admission, options: Options
    ) -> None:
        self.options = options
        self.configure(conf)
        self.cluster = admission.cluster()
        self.cycles = options.cycles if options.cycles is not None else int(document.get("cycles") or 1)
        self.afterwards = ClusterTransition(
            self.cluster,
            requeue=document.get("evicted") != "delete",
            termination_cycles=int(document.get("termination_cycles") or 0),
            cycle_seconds=float(document.get("cycle_seconds") or 1),
        )
        work = admission.workloads
        self.notes = [
            *work.unmodelled,
            *queue_notes(admission.items("queues")),
            *quota_notes(admission.items("jobs"), admission.items("resourcequotas")),
            *daemon_notes(bare_nodes(admission.items("nodes"), work.of_nodes, work.twins)),
            *plugin_notes(self.conf),
            *crash_notes(self.conf),
            *release_notes(document),
            *admission.notes(),
            *node_notes(len(admission.items("nodes"))),
            *cycle_notes(self.cycles, self.afterwards),
        ]
        self.calls = ExtenderCalls(options.extender)
        self.kept: dict[str, Any] = {KEPT: self.calls}
        self._state: State | None = None
        self._session: Session | None = None
        if self.cycles > 1:
            self.live()
            self.afterwards.recurrence = Recurrence()

    def live(self, *, anew: bool = False) -> None:
        """Keep pods, PodGroups and the state from session to session, independent of other simulations.

        With `anew` there is no state; each session is opened on a new snapshot.
        """
        cluster = self.cluster
        cluster.pods = cluster.pods.copy()
        cluster.podgroups = PodGroups(cluster.pods.journal, cluster.podgroups)
        self._state = None if anew else State(cluster, cluster.pods.journal)

    def emptied(self) -> Simulation:
        """Return a live simulation of the same cluster without PodGroups and pods."""
        twin = copy(self)
        cluster = twin.cluster = replace(self.cluster, pods=self.cluster.pods.emptied())
        cluster.podgroups = PodGroups(cluster.pods.journal, {})
        twin.kept, twin._session, twin._state = {}, None, State(cluster, cluster.pods.journal)
        return twin

    def configure(self, conf: SchedulerConf) -> None:
        """Use a configuration for the next sessions."""
        self.conf = conf
        self._session = None
        self._actions = {name: ACTIONS[name] for name in conf.actions}
        self.openers = [
            (OPENERS[option.name], option.arguments) for option in conf.options() if option.name in OPENERS
        ]

    def figures(self, result: dict[str, Any]) -> dict[str, Any]:
        """Return the plugins' figures of the queues when the first session opens."""
        result["notes"] = self.notes
        session = self.open_new(take_snapshot(self.cluster))
        result["at_open"] = shown.state(session)
        if isinstance(session.observer, Recorder):
            result["explain"] = {"deserved": plain(session.observer.deserved)}
        return result

    def fitting(self, result: dict[str, Any], pod: str) -> dict[str, Any]:
        """Return the nodes on which a waiting pod would be placed when the first session opens."""
        result["notes"] = self.notes
        session = self.open_new(take_snapshot(self.cluster))
        waiting = (task for job in session.jobs.values() for task in job.tasks.values() if task.key == pod)
        task = next(waiting, None)
        if task is None or task.status is not TaskStatus.PENDING:
            return {**result, "error": f"Pod {pod} does not wait in any job that the scheduler knows."}
        return {**result, "pod": pod, **plain(fitting(session, task))}

    def run(self, result: dict[str, Any]) -> dict[str, Any]:
        """Return the result of all cycles."""
        result["actions"] = list(self.conf.actions)
        result["notes"] = self.notes
        result["cycles"] = []
        for cycle in range(1, self.cycles + 1):
            shows = self.options.shows
            result["cycles"].append(self._cycle(cycle) if shows is None else self._brief(cycle, shows))
        if self._state is None and self.options.reuse is not None:
            self.options.reuse.release()
        recurrence = self.afterwards.recurrence
        if recurrence is not None and recurrence.loop is not None:
            result["loops"] = [recurrence.loop._asdict()]
        self._report(1.0, "done")
        self.notes.extend(self.calls.notes())
        failure = self.calls.error()
        return result if failure is None else {"name": result["name"], "error": failure, **result}

    def act(self, session: Session, action: str) -> None:
        """Run an action of the configuration."""
        session.action = action
        self._actions[action](session)

    def reach(self, cycle: int) -> None:
        """Run the cycles before `cycle`."""
        for _ in islice(self.steps(), cycle - 1):
            pass

    def steps(self) -> Iterator[Session]:
        """Yield the session of each cycle after its decisions are written.

        The caller may write pods and PodGroups in between, in `cluster.pods` and `cluster.podgroups`.
        Sessions are not kept, and loops are not detected.
        """
        self.afterwards.recurrence = None
        for cycle in range(1, self.cycles + 1):
            session = self.open_session()
            for action in self.conf.actions:
                self.act(session, action)
            close_session(session)
            if cycle < self.cycles:
                self.afterwards.advance(session, cycle)
            yield session

    def session_before(self, action: str) -> Session:
        """Return a session of the reached cycle in the state before an action."""
        session = self.open_new(take_snapshot(self.cluster))
        for name in self.conf.actions[: self.conf.actions.index(action)]:
            self.act(session, name)
        session.action = action
        return session

    @property
    def state(self) -> State | None:
        """Return the state that is kept from session to session, None if there is none."""
        return self._state

    def reopen(self) -> None:
        """Make every plugin open the next session."""
        self._session = None

    def open_session(self) -> Session:
        """Return a session on the current cluster, before any action."""
        renewal = None if self._state is None else self._state.renew()
        if renewal is None or self._state is None:
            return self.open_new(take_snapshot(self.cluster))
        if self._session is None or renewal.anew or not self._session.renew(renewal):
            self._session = self.open_new(self._state.snapshot)
        return self._session

    def _found(self) -> Snapshot:
        """Return the snapshot for the next session."""
        if self._state is None:
            reuse = self.options.reuse
            return take_snapshot(self.cluster) if reuse is None else reuse.acquire(self.cluster)
        self._state.renew()
        self._session = None
        return self._state.snapshot

    def _cycle(self, cycle: int) -> dict[str, Any]:
        started = self._now()
        snapshot = self._found()
        taken = self._now()
        session = self._opened(snapshot)
        opened = self._now()
        at_open = shown.state(session)
        times = [self._now()]
        for position, action in enumerate(self.conf.actions):
            done = (cycle - 1 + position / len(self.conf.actions)) / self.cycles
            self._report(done, f"cycle {cycle}: {action}")
            self.act(session, action)
            times.append(self._now())
        at_end = shown.state(session)
        podgroups = [shown.podgroup_before_close(session, job) for job in session.jobs.values()]
        recorder = session.observer if isinstance(session.observer, Recorder) else None
        explained = None if recorder is None else shown.explanations(session, recorder)
        closing = self._now()
        close_session(session)
        closed = self._now()
        allocated = queue_allocated(session)
        for entry, job in zip(podgroups, session.jobs.values(), strict=True):
            shown.add_after_close(entry, job)
        result = {
            "cycle": cycle,
            **shown.cycle_result(session, at_open, at_end),
            "podgroups": podgroups,
            "queue_status_allocated": {name: quantities(amount) for name, amount in allocated.items()},
        }
        if explained is not None:
            result["explain"] = explained
        if self.options.timer is not None:
            result["timing"] = shown.timing(
                self.conf.actions, taken - started, opened - taken, times, closed - closing
            )
        if cycle < self.cycles:
            self.afterwards.advance(session, cycle)
        return result

    def _brief(self, cycle: int, shows: frozenset[str]) -> dict[str, Any]:
        """Return some parts of a cycle in brief; skipping the others changes no decision."""
        session = self._opened(self._found())
        subject = session.jobs.get(self.options.job or "")
        for position, action in enumerate(self.conf.actions, start=1):
            self.act(session, action)
            if subject is not None and is_left_out(session, subject, self.conf.actions[position:]):
                break
        brief = shown.brief_before_close(session, shows, subject)
        session.writes_conditions = session.writes_conditions and cycle < self.cycles
        close_session(session)
        result = {"cycle": cycle, **shown.brief_after_close(session, brief, subject)}
        if cycle < self.cycles:
            self.afterwards.advance(session, cycle)
        return result

    def _opened(self, snapshot: Snapshot) -> Session:
        """Return a session on a snapshot of the state."""
        options = self.options
        if self._state is not None or options.reuse is None or options.explain:
            return self.open_new(snapshot)
        return options.reuse.session(snapshot, self.conf, options.reasons, self.open_new)

    def open_new(self, snapshot: Snapshot) -> Session:
        """Return a new session on a snapshot, opened by every plugin."""
        observe = Recorder if self.options.explain else unobserved
        session = Session(
            snapshot,
            self.conf,
            observe=observe,
            kept=self.kept,
            reasons=self.options.reasons,
            counts_pipelined=self.options.counts_pipelined,
        )
        for opener, arguments in self.openers:
            opener(session, arguments)
        return session

    def _now(self) -> float:
        return self.options.timer() if self.options.timer is not None else 0.0

    def _report(self, done: float, what: str) -> None:
        if self.options.progress is not None:
            self.options.progress(done, what)
