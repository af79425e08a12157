"""One scheduling cycle: its state and its decisions.

Source: volcano ``pkg/scheduler/framework/session.go`` at v1.15.1.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any, TypeVar

from scheduler_core.conf import SchedulerConf
from scheduler_core.decision import Decision
from scheduler_core.errors import CoreError
from scheduler_core.framework.binder import Binder
from scheduler_core.framework.events import Events
from scheduler_core.framework.functions import Functions
from scheduler_core.framework.lines import Lines
from scheduler_core.framework.living_view import LivingView, nothing_to_renew
from scheduler_core.framework.moved_jobs import MovedJobs
from scheduler_core.framework.observer import Observer, unobserved
from scheduler_core.framework.orders import Orders
from scheduler_core.framework.placement import Placement
from scheduler_core.framework.plugin_calls import PluginCalls
from scheduler_core.framework.registry import Registry
from scheduler_core.model.fit import FitErrors, StatusTable
from scheduler_core.model.job import JobInfo, TaskInfo
from scheduler_core.model.k8s_nodes import K8sNodeSnapshot
from scheduler_core.model.pod import PodShape
from scheduler_core.model.queue import ROOT, QueueInfo, ancestors
from scheduler_core.model.queue_account import QueueAccount
from scheduler_core.model.renewal import Renewal
from scheduler_core.model.snapshot import Snapshot
from scheduler_core.release import Rule
from scheduler_core.resource import total_of

View = TypeVar("View")


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
        Whether jobs and pods need not record that they are pipelined, because nothing reads it after the
        actions.
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
        Where plugins register their functions when the session opens.
    functions : Functions
        The functions that plugins have registered.
    events : Events
        The plugins' handlers for placed and removed tasks.
    plugins : PluginCalls
        The calls of the plugins.
    orders : Orders
        The orders of jobs, queues and tasks.
    queue_accounts : callable
        ``queue_accounts()``: the accounts of the plugin that computes the deserved amounts, by queue.
    renewals : dict
        Functions that update the plugins' registrations for the next session, by plugin; they return False if
        that is not possible. `Renewal.other_queues` says whether the queues may have changed.
    moved : MovedJobs
        The jobs that have changed since the last closed session opened.
    binder : Binder
        Binds tasks in the cache of the scheduler.
    is_closed : bool
        Whether the phases of all jobs are written.
    known_to_wait : set of str or None
        The queues with waiting jobs, if the caller has jobs that are not in the session.

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
        self.moved = MovedJobs(snapshot)
        self.is_closed = False
        self.known_to_wait: set[str] | None = None
        self._of_queues = Renewal()
        self.renewals: dict[str, Callable[[Renewal], bool]] = {}
        for job in self.jobs.values():
            job.order = None
        self.nodes.listeners.clear()
        self.action = ""
        self.cycle_states: defaultdict[str, dict[str, Any]] = defaultdict(dict)
        self.kept: dict[str, Any] = {} if kept is None else kept
        self.binder = Binder(self.nodes)
        self.served_by_gang_action: set[str] = set()
        self.functions = Functions(conf)
        self.registry = Registry(self.functions)
        self.events = Events()
        self.orders = Orders(self.functions)
        self._views: dict[Callable[[Session], Any], Any] = {}
        self.queue_accounts: Callable[[], Mapping[str, QueueAccount]] = dict
        self.placement = Placement(self.nodes, self.statuses, self.functions)
        self.observer = observe(self)
        self.plugins = PluginCalls(self.functions, self.observer)

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

        Plugins that need it read it when the session opens.
        """
        scores_pod_level = self.release.follows(Rule.POD_LEVEL_SCORES)
        return K8sNodeSnapshot(self.snapshot, scores_pod_level=scores_pod_level)

    @cached_property
    def lines(self) -> Lines:
        """Return the waiting jobs, in lines of equal ones."""
        return Lines(self.snapshot.index.waiting, self.orders.job_key)

    def view(self, kind: Callable[[Session], View]) -> View:
        """Return the session's view of a `kind`, built at first use.

        A `LivingView` may be kept for the next session.
        """
        if kind not in self._views:
            self._views[kind] = kind(self)
        view: View = self._views[kind]
        return view

    def cycle_state(self, task: TaskInfo) -> dict[str, Any]:
        """Return the plugins' state of a task within this session, by plugin."""
        return {plugin: known[task.uid] for plugin, known in self.cycle_states.items() if task.uid in known}

    # decisions

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
        """Append a decision of the current action, and return it."""
        decision = Decision(self.action, op, job.key, pod, node, reason, for_pod, state)
        self.decisions.append(decision)
        return decision

    def forget(self, decision: Decision) -> None:
        """Remove an undone decision, which is nearly always the last one."""
        for place in reversed(range(len(self.decisions))):
            if self.decisions[place] is decision:
                del self.decisions[place]
                return

    def record_fit_errors(self, task: TaskInfo, errors: FitErrors) -> None:
        """Record why a task found no node."""
        if task.job is not None:
            task.job.touch()
            task.job.fit_errors[task.uid] = errors
            task.job.failed_roles.add(task.role)

    # from one session to the next

    @cached_property
    def is_renewable(self) -> bool:
        """Return whether all plugins can renew their registrations, and there is no observer.

        A plugin that is configured twice is opened twice, but could renew only its last opening.
        """
        names = [option.name for option in self.conf.options()]
        if self.observer.listens or len(set(names)) < len(names):
            return False
        return all(name in self.renewals for name in names)

    @cached_property
    def _renewing(self) -> list[Callable[[Renewal], bool]]:
        """Return the renewals of plugins that have something to renew, once all are registered."""
        return [renew for renew in self.renewals.values() if renew is not nothing_to_renew]

    def renew(self, renewal: Renewal) -> bool:
        """Update to the next session on the renewed state; return False if a new session must be opened.

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
        if not all(renew(renewal) for renew in self._renewing):
            return False
        if "k8s_nodes" in self.__dict__ and not self.k8s_nodes.renew(self.snapshot.tasks, renewal.nodes):
            return False
        self.decisions, self.action, self.now = [], "", self.snapshot.now
        self.writes_conditions = self.reasons
        self.moved.renew(renewal.jobs, forgets=self.is_closed)
        self.is_closed = False
        for states in self.cycle_states.values():
            states.clear()
        self.binder.renew(renewal.nodes)
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
        """Update to the next session after only the sums of some queues changed.

        The caller counts moved pods on nodes and in the Kubernetes view. Afterwards, only calls about queues,
        and about tasks whose class and nodes decide, are valid; what pre-predicates found stays. Returns
        False as `renew` does.
        """
        if queues:
            self._of_queues.queues = queues
            for renew in self._renewing:
                if not renew(self._of_queues):
                    return False
        self.decisions, self.action, self.now = [], "", self.snapshot.now
        self.orders.renew()
        self.nodes.changes.trim()
        if "k8s_nodes" in self.__dict__:
            return self.k8s_nodes.renew(self.snapshot.tasks, {})
        return True

    def count_pod(self, shape: PodShape, node: int, sign: int) -> None:
        """Add (1) or subtract (-1) the amounts of a pod of a shape, which has no task, on a node."""
        self.nodes.count(shape.amounts, node, sign)
        if "k8s_nodes" in self.__dict__:
            self.k8s_nodes.count(shape, node, sign)
