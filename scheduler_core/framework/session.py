"""One scheduling cycle: its state, the calls to its plugins, and its decisions.

Source: volcano ``pkg/scheduler/framework/session.go``, ``session_plugins.go`` at v1.15.1.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any, TypeVar

from scheduler_core.conf import SchedulerConf
from scheduler_core.decision import Decision, Why
from scheduler_core.errors import CoreError, EventError, PrePredicateError
from scheduler_core.framework.extension_points import PERMIT, REJECT, Point
from scheduler_core.framework.lines import Lines
from scheduler_core.framework.observer import UNOBSERVED, Observer
from scheduler_core.framework.orders import Orders
from scheduler_core.framework.placement import Placement
from scheduler_core.framework.plugin_fn import AllocatableFn, PluginFn
from scheduler_core.framework.registry import Registry
from scheduler_core.model.fit import FitErrors, StatusTable
from scheduler_core.model.job import JobInfo, TaskInfo
from scheduler_core.model.job_index import is_settled
from scheduler_core.model.k8s_nodes import K8sNodeSnapshot
from scheduler_core.model.pod import PodShape
from scheduler_core.model.queue import ROOT, QueueInfo, ancestors
from scheduler_core.model.queue_account import QueueAccount
from scheduler_core.model.rows import add_pairs, fits
from scheduler_core.model.snapshot import Snapshot
from scheduler_core.model.state import Renewal
from scheduler_core.model.status import TaskStatus
from scheduler_core.resource import Resource, total_of

# Read for each job or task; looking up the members would take as long as the call.
ALLOCATABLE, OVERUSED, PRE_PREDICATE = Point.ALLOCATABLE, Point.OVERUSED, Point.PRE_PREDICATE
JOB_PIPELINED, JOB_VALID, JOB_READY = Point.JOB_PIPELINED, Point.JOB_VALID, Point.JOB_READY
JOB_ENQUEUEABLE, JOB_ENQUEUED = Point.JOB_ENQUEUEABLE, Point.JOB_ENQUEUED
PREEMPTIVE = Point.PREEMPTIVE
BINDING = TaskStatus.BINDING

STEADY = frozenset({"allocate", "backfill", "reclaim"})
"""Actions that repeat their decisions when nothing has changed."""

View = TypeVar("View")


class LivingView(ABC):
    """A view of a session that is kept up to date, and possibly renewed for the next session."""

    __slots__ = ()

    @abstractmethod
    def renew(self, renewal: Renewal) -> bool:
        """Become the view of the next session; False: it must be rebuilt."""


def nothing_to_renew(_renewal: Renewal) -> bool:
    """Return True, as everything that the plugin registered holds in the next session."""
    return True


def unobserved(_session: Session) -> Observer:
    """Return the observer of a session without reasons."""
    return UNOBSERVED


class Session:
    """The scheduler's state during one cycle.

    Attributes
    ----------
    jobs, queues : dict
        By key and by name, in ascending order.
    release : Release
        The simulated release of Volcano.
    nodes : NodeTable
        The nodes, a struct of arrays.
    total : Resource
        The sum of all nodes' allocatable.
    now : float
        Seconds since 1970.
    observer : Observer
        Receives the reasons why jobs wait and tasks are evicted.
    reasons : bool
        Whether the reasons why tasks fit nowhere are recorded, also on their PodGroups.
    counts_pipelined : bool
        Whether jobs and pods need not record what is pipelined, because nothing reads it after the actions.
    writes_conditions : bool
        Whether closing writes the readiness of gangs as conditions to PodGroups: with reasons, in the last
        cycle.
    cycle_states : dict
        The plugins' state of tasks within this session, by plugin, then uid.
    served_by_gang_action : set of str
        The jobs that gangpreempt or gangreclaim has placed in this session.
    kept : dict
        State that outlives the session, by plugin (the time of tdm's last eviction).
    registry : Registry
        The functions of the plugins.
    orders : Orders
        The orders of jobs, queues and tasks.
    queue_accounts : callable
        ``queue_accounts()``: the accounts of the plugin that computes the deserved amounts, by queue.
    renewals : dict
        Functions that update what the plugins registered for the next session, by plugin; one returns False
        if it cannot. `Renewal.other_queues` says whether the queues may have changed.
    moved : dict
        The jobs that have changed since the last closed session opened, by key.
    is_closed : bool
        Whether the phases of all jobs are written.
    known_to_wait : set of str or None
        The queues with waiting jobs, if the caller knows of jobs that are not in the session.

    """

    def __init__(
        self,
        snapshot: Snapshot,
        conf: SchedulerConf,
        *,
        observe: Callable[[Session], Observer] = unobserved,
        kept: dict[str, Any] | None = None,
        reasons: bool = True,
        counts_pipelined: bool = False,
    ) -> None:
        self.snapshot = snapshot
        self.conf = conf
        self.release = conf.release
        self.reasons = self.writes_conditions = reasons
        self.counts_pipelined = counts_pipelined
        self.jobs: dict[str, JobInfo] = snapshot.jobs
        self.queues: dict[str, QueueInfo] = snapshot.queues
        self.nodes = snapshot.nodes
        self.now = snapshot.now
        self.total = total_of(snapshot.allocatable)
        self.statuses = StatusTable()
        self.decisions: list[Decision] = []
        self.moved: dict[str, JobInfo] = dict(self.jobs)
        self.is_closed = False
        self.known_to_wait: set[str] | None = None
        self._finds_the_same = False
        self._of_queues = Renewal()
        self._moved_jobs: tuple[int, list[JobInfo]] = -1, []
        self.renewals: dict[str, Callable[[Renewal], bool]] = {}
        for job in self.jobs.values():
            job.order = None
        self.nodes.listeners.clear()
        self.action = ""
        self.cycle_states: defaultdict[str, dict[str, Any]] = defaultdict(dict)
        self.kept: dict[str, Any] = {} if kept is None else kept
        self.cache_idle = [list(row) for row in self.nodes.idle_of]
        self.served_by_gang_action: set[str] = set()
        self.registry = Registry(conf)
        self.orders = Orders(self.registry)
        self._functions = self.registry.functions
        self._views: dict[Callable[[Session], Any], Any] = {}
        self.queue_accounts: Callable[[], Mapping[str, QueueAccount]] = dict
        self.placement = Placement(self.nodes, self.statuses, self.registry)
        self.observer = observe(self)

    @cached_property
    def has_sound_parents(self) -> bool:
        """Return whether the parents of every queue lead to `root`, or no plugin follows them."""
        try:
            for name in self.queues if ROOT in self.queues else ():
                ancestors(self.queues, name)
        except CoreError:
            return False
        return True

    @cached_property
    def k8s_nodes(self) -> K8sNodeSnapshot:
        """Return the Kubernetes view of the nodes.

        Plugins that need it read it while the session opens.
        """
        return K8sNodeSnapshot(self.snapshot)

    @cached_property
    def lines(self) -> Lines:
        """Return the waiting jobs, in lines of equal ones."""
        return Lines(self.snapshot.index.waiting, self.orders.job_key)

    def queues_that_wait(self) -> set[str]:
        """Return the queues that may get a turn: of jobs that waited at the open or were touched since."""
        if self.known_to_wait is not None:
            return self.known_to_wait
        return self.lines.queues() | {job.queue for job in self.snapshot.tasks.touched.values()}

    def nothing_waits(self) -> bool:
        """Return whether no job waits: all were settled at the open, or the session has settled them.

        What else an action would report about them is not read.
        """
        if self.reasons:
            return False
        waiting, touched = self.snapshot.index.waiting, self.snapshot.tasks.touched
        if not touched:
            return not waiting
        return waiting.keys() <= touched.keys() and all(map(is_settled, touched.values()))

    def nothing_to_decide(self) -> bool:
        """Return whether allocate, backfill and reclaim decide nothing: no job waits, or they repeat."""
        return self.nothing_waits() or self.repeats()

    def repeats(self) -> bool:
        """Return whether the actions after enqueue would again move nothing, as in the previous session.

        They find the same input. What they would pipeline without effect is neither recorded nor read.
        """
        return self._finds_the_same and not any(decision.op == "enqueue" for decision in self.decisions)

    def _moved_nothing(self) -> bool:
        """Return whether the closed session has at most enqueued jobs and pipelined tasks without effect.

        Sound for these actions only: others read more than tasks, nodes and amounts of queues, or change
        tasks without a decision.
        """
        actions = self.conf.actions
        if not (self.is_closed and self.counts_pipelined and actions and actions[0] == "enqueue"):
            return False
        if not STEADY.issuperset(actions[1:]):
            return False
        return all(
            decision.op in ("enqueue", "enqueue_reject")
            or (decision.op == "pipeline" and decision.state != "committed")
            for decision in self.decisions
        )

    def view(self, kind: Callable[[Session], View]) -> View:
        """Return the view `kind` of the session, built at first use.

        A `LivingView` may be kept for the next session.
        """
        if kind not in self._views:
            self._views[kind] = kind(self)
        view: View = self._views[kind]
        return view

    def cycle_state(self, task: TaskInfo) -> dict[str, Any]:
        """Return the plugins' state of a task within this session, by plugin."""
        return {plugin: known[task.uid] for plugin, known in self.cycle_states.items() if task.uid in known}

    # events

    def fire_allocate(self, task: TaskInfo) -> Exception | None:
        """Call the plugins for a placed task; return the last refusal of a handler."""
        refusal: Exception | None = None
        for allocate in self.registry.on_allocate:
            try:
                allocate(task)
            except EventError as error:
                refusal = error
        return refusal

    def fire_deallocate(self, task: TaskInfo) -> None:
        """Call the plugins for a task removed from its node."""
        for deallocate in self.registry.on_deallocate:
            deallocate(task)

    # from one session to the next

    @cached_property
    def is_renewable(self) -> bool:
        """Return whether all plugins can renew what they registered, and there is no observer.

        A plugin that the configuration names twice is opened twice, but could renew only its last opening.
        """
        names = [option.name for option in self.conf.options()]
        if self.observer.listens or len(set(names)) < len(names):
            return False
        return all(name in self.renewals for name in names)

    def renew(self, renewal: Renewal) -> bool:
        """Become the next session over the renewed state; False: a new session must be opened.

        Sound, as everything in a session belongs to the state or to a plugin that renews itself, is reset
        here, or is cached for a node or a job until that changes. A plugin that registers no renewal prevents
        it.
        """
        if not self.is_renewable:
            return False
        if renewal.other_queues:
            self.queues = self.snapshot.queues
            for read_of_queues in ("has_sound_parents", "lines"):
                self.__dict__.pop(read_of_queues, None)
        if not all(renew(renewal) for renew in self.renewals.values()):
            return False
        if "k8s_nodes" in self.__dict__ and not self.k8s_nodes.renew(self.snapshot.tasks, renewal.nodes):
            return False
        self._finds_the_same = renewal.is_still and self._moved_nothing()
        self.decisions, self.action, self.now = [], "", self.snapshot.now
        self.writes_conditions = self.reasons
        if self.is_closed:
            self.moved.clear()
        for key, job in renewal.jobs.items():
            if job is None:
                self.moved.pop(key, None)
            else:
                self.moved[key] = job
        self.is_closed = False
        self._moved_jobs = -1, []
        for states in self.cycle_states.values():
            states.clear()
        for node in renewal.nodes:
            self.cache_idle[node] = list(self.nodes.idle_of[node])
        self.served_by_gang_action.clear()
        self.nodes.listeners.clear()
        views, self._views = self._views, {}
        for kind, view in views.items():
            if isinstance(view, LivingView) and view.renew(renewal):
                self._views[kind] = view
        self.orders.renew()
        if "lines" in self.__dict__:
            self.lines.renew(renewal.jobs)
        return True

    def renew_queues(self, queues: set[str]) -> bool:
        """Become the next session after only the sums of some queues changed.

        The caller counts moved pods on nodes and in the Kubernetes view. Afterwards only calls about queues,
        and about tasks for which class and nodes suffice, are valid. False as in `renew`.
        """
        if queues:
            self._of_queues.queues = queues
            for renew in self.renewals.values():
                if renew is not nothing_to_renew and not renew(self._of_queues):
                    return False
        self.decisions, self.action, self.now = [], "", self.snapshot.now
        for states in self.cycle_states.values():
            states.clear()
        self.orders.renew()
        self.nodes.changes.trim()
        if "k8s_nodes" in self.__dict__:
            return self.k8s_nodes.renew(self.snapshot.tasks, {})
        return True

    def count_pod(self, shape: PodShape, node: int, sign: int) -> None:
        """Add (1) or remove (-1) the amounts of a pod of a shape on a node; the pod has no task."""
        self.nodes.count(shape.amounts, node, sign)
        if "k8s_nodes" in self.__dict__:
            self.k8s_nodes.count(shape, node, sign)

    def places_by_amounts(self, task: TaskInfo) -> bool:
        """Return whether the node of a task follows from its class and the amounts on each node."""
        try:
            self.pre_predicate(task)
        except PrePredicateError:
            return False
        return self.registry.classes_are_shapes and self.placement.is_local(task)

    def moved_jobs(self) -> list[JobInfo]:
        """Return the jobs, by key, that changed since the previous session or were touched in this one."""
        touched = self.snapshot.tasks.touched
        count, jobs = self._moved_jobs
        if count != len(touched):
            moved = {**self.moved, **touched}
            jobs = [moved[key] for key in sorted(moved)]
            self._moved_jobs = len(touched), jobs
        return jobs

    # questions about a job

    def job_valid(self, job: JobInfo) -> tuple[str, str] | None:
        """Return (reason, message) of the first plugin that finds the job invalid, None when valid."""
        for fn in self._functions[JOB_VALID]:
            failure: tuple[str, str] | None = fn(job)
            if failure is not None:
                return failure
        return None

    def job_ready(self, job: JobInfo) -> bool:
        """Return whether every plugin finds that the job may be bound."""
        for fn in self._functions[JOB_READY]:  # noqa: SIM110
            if not fn(job):
                return False
        return True

    def job_pipelined(self, job: JobInfo) -> bool:
        """Return whether the job may keep its pipelined nodes until resources are released."""
        return self._vote(JOB_PIPELINED, job) is None

    def job_starving(self, job: JobInfo) -> bool:
        """Return whether the job is starving: the first tier that answers decides, all of it must agree."""
        for fn in self._starving:
            if not fn(job):
                return False
        return bool(self._starving)

    @cached_property
    def _starving(self) -> list[Callable[[JobInfo], bool]]:
        tiers = self.registry.tiers_of(Point.JOB_STARVING)
        return next(([added.fn for added in tier] for tier in tiers if tier), [])

    def job_enqueueable(self, job: JobInfo) -> Why | None:
        """Return None if the job may be enqueued, else the reasons of the rejecting plugin, with its name."""
        why: Why = {}
        plugin = self._vote(JOB_ENQUEUEABLE, job, why)
        return None if plugin is None else {"plugin": plugin, **why}

    def _vote(self, point: Point, *question: Any) -> str | None:
        """Return the name of the plugin that rejects, None if the vote passes."""
        for tier in self.registry.tiers_of(point):
            permitted = False
            for added in tier:
                vote = added.fn(*question)
                if vote is REJECT:
                    return added.plugin
                permitted = permitted or vote is PERMIT
            if permitted:
                return None
        return None

    def job_enqueued(self, job: JobInfo) -> None:
        """Call the plugins for an enqueued job."""
        for fn in self._functions[JOB_ENQUEUED]:
            fn(job)

    # questions about a queue

    def overused(self, queue: QueueInfo) -> bool:
        """Return whether any plugin finds that the queue is overused."""
        for fn in self._functions[OVERUSED]:  # noqa: SIM110
            if fn(queue):
                return True
        return False

    def preemptive(self, queue: QueueInfo, tasks: Sequence[TaskInfo]) -> Why | None:
        """Return None if the queue may evict for these tasks, else the reasons of the refusing plugin."""
        return self._first_refusal(PREEMPTIVE, queue, tasks)

    def allocatable(self, queue: QueueInfo, task: TaskInfo) -> Why | None:
        """Return None if the queue may allocate for the task, else the reasons of the refusing plugin."""
        return self._first_refusal(ALLOCATABLE, queue, task)

    def allocatable_after_release(self, queue: QueueInfo, task: TaskInfo, freed: Resource) -> bool:
        """Return whether the queue might allocate for the task after it releases some amounts."""
        return all(
            added.after_release(queue, task, freed)
            for added in self.registry.of_kind(ALLOCATABLE, AllocatableFn)
            if added.after_release is not None
        )

    def _first_refusal(self, point: Point, queue: QueueInfo, what: Any) -> Why | None:
        for position, fn in enumerate(self._functions[point]):
            why: Why | None = {} if self.observer.listens else None
            if not fn(queue, what, why):
                plugin = self.registry.of_kind(point, PluginFn)[position].plugin
                return {"plugin": plugin, "queue": queue.name, **(why or {})}
        return None

    # nodes

    def pre_predicate(self, task: TaskInfo) -> None:
        """Call the pre-predicates, before nodes are examined for a task; raises PrePredicateError."""
        for fn in self._functions[PRE_PREDICATE]:
            fn(task)

    def record_fit_errors(self, task: TaskInfo, errors: FitErrors) -> None:
        """Record why a task found no node."""
        if task.job is not None:
            task.job.touch()
            task.job.fit_errors[task.uid] = errors
            task.job.failed_roles.add(task.role)

    # what the cache does outside any statement

    def bind(self, task: TaskInfo) -> bool:
        """Bind a task; False if the node in the cache of the scheduler has no room for it.

        That node counts only what this session has bound, so a node that was over-committed from the start
        may refuse a task.
        """
        idle = self.cache_idle[task.node]
        if not fits(task, idle):
            return False
        add_pairs(idle, task.shape.amounts, -1.0)
        if task.job is not None:
            task.job.update_task_status(task, BINDING)
        return True

    def decide(
        self,
        op: str,
        job: JobInfo,
        *,
        pod: str = "",
        node: str = "",
        reason: str = "",
        for_pod: str = "",
        state: str = "committed",
    ) -> Decision:
        """Append a decision of the current action and return it."""
        decision = Decision(self.action, op, job.key, pod, node, reason, for_pod, state)
        self.decisions.append(decision)
        return decision

    def forget(self, decision: Decision) -> None:
        """Remove an undone decision; nearly always it is the last one."""
        for place in reversed(range(len(self.decisions))):
            if self.decisions[place] is decision:
                del self.decisions[place]
                return
