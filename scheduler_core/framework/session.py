"""One scheduling cycle: what is known, who answers which question, and what was decided.

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
from scheduler_core.model.node import add_pairs, fits
from scheduler_core.model.pod import PodShape
from scheduler_core.model.queue import ROOT, QueueInfo, ancestors
from scheduler_core.model.queue_account import QueueAccount
from scheduler_core.model.snapshot import Snapshot
from scheduler_core.model.state import Renewal
from scheduler_core.model.status import TaskStatus
from scheduler_core.resource import Resource, total_of

# Called for each job or task, so that looking the members up would take as long as the call.
ALLOCATABLE, OVERUSED, PRE_PREDICATE = Point.ALLOCATABLE, Point.OVERUSED, Point.PRE_PREDICATE
JOB_PIPELINED, JOB_VALID, JOB_READY = Point.JOB_PIPELINED, Point.JOB_VALID, Point.JOB_READY
JOB_ENQUEUEABLE, JOB_ENQUEUED = Point.JOB_ENQUEUEABLE, Point.JOB_ENQUEUED
PREEMPTIVE = Point.PREEMPTIVE
BINDING = TaskStatus.BINDING

STEADY = frozenset({"allocate", "backfill", "reclaim"})
"""Actions that do the same again where they find the same."""

View = TypeVar("View")


class LivingView(ABC):
    """What a session keeps up to date, and perhaps the next one, too."""

    __slots__ = ()

    @abstractmethod
    def renew(self, renewal: Renewal) -> bool:
        """Become what would be made of the next session; False: it has to be made anew."""


def keeps_nothing(_renewal: Renewal) -> bool:
    """Say that all that a plugin registered holds in the next session, too."""
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
        The release of Volcano that decides.
    nodes : NodeTable
        The nodes, a struct of arrays.
    total : Resource
        The sum of all nodes' allocatable.
    now : float
        Seconds since 1970.
    observer : Observer
        What hears why jobs wait and tasks are evicted.
    reasons : bool
        Whether tasks that fit nowhere, and their PodGroups, say why.
    counts_pipelined : bool
        Whether after its actions nobody reads of jobs and pods what is pipelined.
    writes_conditions : bool
        Whether closing says on PodGroups whether their gangs are ready: with reasons, if anybody reads it.
    cycle_states : dict
        What plugins remember of tasks within this session, by plugin, then uid.
    served_by_gang_action : set of str
        The jobs that gangpreempt or gangreclaim has given their places in this session.
    kept : dict
        What outlives the session, by plugin (the time of tdm's last eviction).
    registry : Registry
        What plugins answer.
    orders : Orders
        Who goes first.
    queue_accounts : callable
        ``queue_accounts()``: the accounts of the plugin that says what queues deserve, by name.
    renewals : dict
        How plugins bring what they registered to what they would register anew, by plugin; one that returns
        False cannot. `Renewal.other_queues` says whether what was read of queues may be something else.
    moved : dict
        The jobs that the last session that was closed did not find as this one does, by key.
    is_closed : bool
        Whether every job has got its phase.
    known_to_wait : set of str or None
        The queues that have jobs that wait, where somebody knows of jobs that are not here.

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
        """Return whether the parents of every queue lead to `root`, or nobody follows them."""
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
        """Return the jobs that wait, in lines of equal ones."""
        return Lines(self.snapshot.index.waiting, self.orders.job_key)

    def queues_that_wait(self) -> set[str]:
        """Return the queues that may have a turn: of jobs that were found to wait, or were touched since."""
        if self.known_to_wait is not None:
            return self.known_to_wait
        return self.lines.queues() | {job.queue for job in self.snapshot.tasks.touched.values()}

    def nothing_waits(self) -> bool:
        """Return whether no job waits for anything: all were found settled, or the session has settled them.

        Nobody asks what else an action would say of them.
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
        """Return whether the actions after enqueue would again move nothing, as in the session before.

        They find what they found then. What they would pipeline without effect is not recorded, nor read.
        """
        return self._finds_the_same and not any(decision.op == "enqueue" for decision in self.decisions)

    def _moved_nothing(self) -> bool:
        """Return whether the session is over, enqueued jobs at most, and pipelined tasks without effect.

        Sound for these actions only: others read more than tasks, nodes and what queues hold, or leave tasks
        otherwise than they were found without deciding anything.
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
        """Return what `kind` makes of the session and keeps up to date, made when it is read first.

        One that is a `LivingView` may be kept for the next session.
        """
        if kind not in self._views:
            self._views[kind] = kind(self)
        view: View = self._views[kind]
        return view

    def cycle_state(self, task: TaskInfo) -> dict[str, Any]:
        """Return what plugins remember of a task within this session, by plugin."""
        return {plugin: known[task.uid] for plugin, known in self.cycle_states.items() if task.uid in known}

    # events

    def fire_allocate(self, task: TaskInfo) -> Exception | None:
        """Call the plugins for a task that is placed; returns the last refusal of a handler."""
        refusal: Exception | None = None
        for allocate in self.registry.on_allocate:
            try:
                allocate(task)
            except EventError as error:
                refusal = error
        return refusal

    def fire_deallocate(self, task: TaskInfo) -> None:
        """Call the plugins for a task that is removed from its node."""
        for deallocate in self.registry.on_deallocate:
            deallocate(task)

    # from one session to the next

    @cached_property
    def is_renewable(self) -> bool:
        """Return whether all plugins say how they renew what they registered, and nobody listens.

        A plugin that the configuration names twice is opened twice, and would renew what it opened last only.
        """
        names = [option.name for option in self.conf.options()]
        if self.observer.listens or len(set(names)) < len(names):
            return False
        return all(name in self.renewals for name in names)

    def renew(self, renewal: Renewal) -> bool:
        """Become the next session over the state that was renewed; False: a new one has to be opened.

        Sound, as what a session holds is the state's, or a plugin's that renews itself, or is forgotten here,
        or is kept for a node or a job until that changes. A plugin that registers no renewal cannot.
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
        """Become the next session where jobs of some queues add up to something else, and nothing else moved.

        Nodes and their Kubernetes view are counted by whoever moves pods. Only questions about queues, and
        about tasks whose class and nodes answer them, are to be asked then. False as of `renew`.
        """
        if queues:
            self._of_queues.queues = queues
            for renew in self.renewals.values():
                if renew is not keeps_nothing and not renew(self._of_queues):
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
        """Count what a pod of a shape holds on a node, 1, or no longer holds, -1; there is no task of it."""
        self.nodes.count(shape.amounts, node, sign)
        if "k8s_nodes" in self.__dict__:
            self.k8s_nodes.count(shape, node, sign)

    def places_by_amounts(self, task: TaskInfo) -> bool:
        """Return whether where a task is placed follows from its class and what each node holds."""
        try:
            self.pre_predicate(task)
        except PrePredicateError:
            return False
        return self.registry.classes_are_shapes and self.placement.is_local(task)

    def moved_jobs(self) -> list[JobInfo]:
        """Return the jobs, by key, that differ from what the session before left, or were touched in this."""
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
        """Return whether the job may keep its places until resources are released."""
        return self._vote(JOB_PIPELINED, job) is None

    def job_starving(self, job: JobInfo) -> bool:
        """Return whether the job may evict: the first tier that answers decides, all of it must agree."""
        for fn in self._starving:
            if not fn(job):
                return False
        return bool(self._starving)

    @cached_property
    def _starving(self) -> list[Callable[[JobInfo], bool]]:
        tiers = self.registry.tiers_of(Point.JOB_STARVING)
        return next(([added.fn for added in tier] for tier in tiers if tier), [])

    def job_enqueueable(self, job: JobInfo) -> Why | None:
        """Return None when the job may be enqueued, else what the rejecting plugin left, with its name."""
        why: Why = {}
        plugin = self._vote(JOB_ENQUEUEABLE, job, why)
        return None if plugin is None else {"plugin": plugin, **why}

    def _vote(self, point: Point, *question: Any) -> str | None:
        """Return the name of the plugin that rejects, None when the vote passes."""
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
        """Call the plugins for a job that was enqueued."""
        for fn in self._functions[JOB_ENQUEUED]:
            fn(job)

    # questions about a queue

    def overused(self, queue: QueueInfo) -> bool:
        """Return whether any plugin finds that the queue has its part."""
        for fn in self._functions[OVERUSED]:  # noqa: SIM110
            if fn(queue):
                return True
        return False

    def preemptive(self, queue: QueueInfo, tasks: Sequence[TaskInfo]) -> Why | None:
        """Return None when the queue may evict for these tasks, else what the refusing plugin left."""
        return self._first_refusal(PREEMPTIVE, queue, tasks)

    def allocatable(self, queue: QueueInfo, task: TaskInfo) -> Why | None:
        """Return None when the queue may take the task, else what the refusing plugin left."""
        return self._first_refusal(ALLOCATABLE, queue, task)

    def allocatable_after_release(self, queue: QueueInfo, task: TaskInfo, freed: Resource) -> bool:
        """Return whether the queue might take the task once so much of what it holds is given back."""
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
        """Let plugins look at a task before its nodes are examined; raises PrePredicateError."""
        for fn in self._functions[PRE_PREDICATE]:
            fn(task)

    def record_fit_errors(self, task: TaskInfo, errors: FitErrors) -> None:
        """Keep why a task found no node."""
        if task.job is not None:
            task.job.touch()
            task.job.fit_errors[task.uid] = errors
            task.job.failed_roles.add(task.role)

    # what the cache does outside any statement

    def bind(self, task: TaskInfo) -> bool:
        """Hand a task to the binder; False when the cluster's node can no longer hold it.

        The node that counts here knows of nothing but what this session has bound, so a task may be refused
        by a node that was over-committed from the start.
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
        """Append a decision of the present action and return it."""
        decision = Decision(self.action, op, job.key, pod, node, reason, for_pod, state)
        self.decisions.append(decision)
        return decision

    def forget(self, decision: Decision) -> None:
        """Forget a decision that was undone; nearly always it is the last one."""
        for place in reversed(range(len(self.decisions))):
            if self.decisions[place] is decision:
                del self.decisions[place]
                return
