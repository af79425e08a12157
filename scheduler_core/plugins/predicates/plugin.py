"""How do the Kubernetes filters of plugin `predicates` take part in a session?

Source: volcano ``pkg/scheduler/plugins/predicates/predicates.go`` at v1.15.1.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scheduler_core.conf import Arguments
from scheduler_core.errors import EventError, PrePredicateError
from scheduler_core.framework.class_scores import ClassAnswers
from scheduler_core.framework.plugin_fn import shape_only
from scheduler_core.framework.session import Session, keeps_nothing
from scheduler_core.model.fit import FITS, POD_NUMBER, Code, Status, Why
from scheduler_core.model.host_ports import host_ports
from scheduler_core.model.job import TaskInfo
from scheduler_core.model.labels import SelectorError
from scheduler_core.model.node_affinity import names_conflict
from scheduler_core.model.pod import PodShape
from scheduler_core.model.pod_affinity import has_pod_affinity
from scheduler_core.model.topology_spread import HARD, constraints_of, raw_constraints
from scheduler_core.plugins.predicates.dry_run import DryRuns
from scheduler_core.plugins.predicates.findings import Findings
from scheduler_core.plugins.predicates.inter_pod import PodCounters, Refusal, count_pods
from scheduler_core.plugins.predicates.pod_state import NAME, PLAIN, PodState
from scheduler_core.plugins.predicates.spread import Uneven, uneven_nodes
from scheduler_core.plugins.predicates.stable import StableFilters
from scheduler_core.plugins.predicates.template_cache import TemplateCache
from scheduler_core.release import Rule

PORTS = Status(Code.UNSCHEDULABLE, "node(s) didn't have free ports for the requested pod ports", "NodePorts")
NO_STATE = Status(Code.ERROR, "the pod has not been looked at in this session", NAME)
REFUSED_BY_CACHE = Status(Code.ERROR, "plugin equivalence cache predicates failed", "predicate.CacheEnable")
POD_AFFINITY: Mapping[Refusal, Status] = {
    Refusal.AFFINITY: Status(
        Code.UNSCHEDULABLE_AND_UNRESOLVABLE, "node(s) didn't match pod affinity rules", "InterPodAffinity"
    ),
    Refusal.OWN_ANTI_AFFINITY: Status(
        Code.UNSCHEDULABLE, "node(s) didn't match pod anti-affinity rules", "InterPodAffinity"
    ),
    Refusal.EXISTING_ANTI_AFFINITY: Status(
        Code.UNSCHEDULABLE, "node(s) didn't satisfy existing pods anti-affinity rules", "InterPodAffinity"
    ),
}
_UNEVEN = "node(s) didn't match pod topology spread constraints"
SPREAD: Mapping[Uneven, Status] = {
    Uneven.MISSING_LABEL: Status(
        Code.UNSCHEDULABLE_AND_UNRESOLVABLE, f"{_UNEVEN} (missing required label)", "PodTopologySpread"
    ),
    Uneven.SKEW: Status(Code.UNSCHEDULABLE, _UNEVEN, "PodTopologySpread"),
}


def open_session(session: Session, arguments: Arguments) -> None:
    """Register what predicates answers."""
    plugin = Predicates(session, arguments)
    session.registry.add_pre_predicate(NAME, plugin.pre_predicate)
    session.registry.add_predicate(
        NAME,
        plugin.predicate,
        class_key=plugin.is_local
        if plugin.template_cache is not None or plugin.k8s_nodes.pods.repelling.any()
        else shape_only,
        cacheable_per_node=plugin.is_local,
        static_for_class=plugin.is_static,
        check_node=plugin.check_node,
        check_classes=plugin.check_classes,
        explain=plugin.explain,
    )
    session.registry.add_event_handler(
        allocate=plugin.allocate, deallocate=plugin.k8s_nodes.remove, on_discard=plugin.on_discard
    )
    dry_runs = DryRuns(plugin.k8s_nodes)
    session.registry.add_simulate_add_task(NAME, dry_runs.add_task)
    session.registry.add_simulate_remove_task(NAME, dry_runs.remove_task)
    session.registry.add_simulate_predicate(NAME, dry_runs.predicate)
    if plugin.template_cache is None:
        session.renewals[NAME] = keeps_nothing


class Predicates:
    """The filters of one session, and which of them are switched on."""

    def __init__(self, session: Session, arguments: Arguments) -> None:
        self.session = session
        self.k8s_nodes = session.k8s_nodes
        self.checks_node_affinity = arguments.get_bool("predicate.NodeAffinityEnable", True)
        self.checks_ports = arguments.get_bool("predicate.NodePortsEnable", True)
        self.checks_pods = arguments.get_bool("predicate.PodAffinityEnable", True)
        self.checks_spread = arguments.get_bool("predicate.PodTopologySpreadEnable", True)
        self.stable = StableFilters(
            self.k8s_nodes,
            session.statuses,
            node_affinity=self.checks_node_affinity,
            taints=arguments.get_bool("predicate.TaintTolerationEnable", True),
        )
        caches = arguments.get_bool("predicate.CacheEnable", False)
        self.template_cache = TemplateCache(len(session.nodes)) if caches else None
        self._repelled = bool(self.k8s_nodes.pods.repelling.any())
        self._states: dict[str, PodState] = session.cycle_states[NAME]
        self._plain: dict[int, bool] = {}
        self._port_rows: dict[int, list[int]] = {}

    # before the nodes are looked at

    def pre_predicate(self, task: TaskInfo) -> None:
        """Count what the filters compare.

        Raises
        ------
        PrePredicateError
            If the pod requires something that cannot be, or that cannot be parsed.

        """
        if self._is_plain(task.shape):
            self._states[task.uid] = PLAIN
            return
        state = self._state(task) or PodState()
        if self.checks_node_affinity and names_conflict(task.shape.spec):
            raise PrePredicateError("plugin NodeAffinity pre-predicates failed pod affinity terms conflict")
        if self.checks_pods and not state.ignores_pods:
            state.counters = self._count_pods(task)
            state.ignores_pods = state.counters is None
        if self.checks_spread and _spreads_hard(task.shape.spec):
            state.uneven = self._uneven_nodes(task)
        self._states[task.uid] = state

    def _is_plain(self, shape: PodShape) -> bool:
        """Return whether nothing needs to be counted or parsed for a shape."""
        plain = self._plain.get(shape.number)
        if plain is None:
            plain = self._plain[shape.number] = not (
                self._repelled
                or names_conflict(shape.spec)
                or has_pod_affinity(shape.spec)
                or _spreads_hard(shape.spec)
            )
        return plain

    def _count_pods(self, task: TaskInfo) -> PodCounters | None:
        if not has_pod_affinity(task.shape.spec) and not self._repelled:
            return None
        kind = self.k8s_nodes.pods.kind_of(task)
        if kind.affinity.problem:
            raise PrePredicateError(
                f"plugin InterPodAffinity pre-predicates failed parsing pod: {kind.affinity.problem}"
            )
        return count_pods(self.k8s_nodes, kind)

    def _uneven_nodes(self, task: TaskInfo) -> NDArray[np.int8]:
        try:
            constraints = constraints_of(task.shape.spec, task.labels(), HARD)
        except SelectorError as error:
            raise PrePredicateError(f"plugin PodTopologySpread pre-predicates failed {error}") from error
        return uneven_nodes(self.k8s_nodes, task, constraints)

    def allocate(self, task: TaskInfo) -> None:
        """Put a placed pod on its node.

        Raises
        ------
        EventError
            If no pre-predicate of this session has looked at the pod: there is nothing to reserve with.

        """
        if task.uid not in self._states:
            if not self.session.release.follows(Rule.FAILED_RESERVE_LEAVES_NO_POD):
                self.k8s_nodes.add(task)
            raise EventError(f"pod {task.key} has no state in this session: not found")
        self.k8s_nodes.add(task)

    def on_discard(self, tasks: Sequence[TaskInfo]) -> None:
        """Take pods from their nodes; back comes who could have been placed in this session."""
        changes, seen = self.session.nodes.changes, len(self.k8s_nodes.changes)
        for task in tasks:
            self.k8s_nodes.remove(task)
        for task in reversed(tasks):
            if self._state(task) is not None:
                self.k8s_nodes.add(task)
        for number in self.k8s_nodes.changes.since(seen):
            changes.add(number)

    def _state(self, task: TaskInfo) -> PodState | None:
        return self._states.get(task.uid)

    def is_local(self, task: TaskInfo) -> bool:
        """Return whether what a node answers depends on that node and the pod's shape alone."""
        if self.template_cache is not None and self.template_cache.applies_to(task):
            return False
        state = self._state(task)
        return state is not None and state.uneven is None and state.active_counters is None

    # node by node

    def predicate(self, task: TaskInfo, nodes: NDArray[np.intp]) -> Why:
        """Return why each node refuses a pod, (K,)."""
        state = self._state(task)
        rows = self._ports_in_the_way(task)
        if state is PLAIN and not rows and self.template_cache is None:
            return self._stable_answers(task, nodes)
        return self._all_findings(task, nodes, self._stable_findings(task, nodes))

    def explain(self, task: TaskInfo, nodes: NDArray[np.intp]) -> Why:
        """Return the same without the help of remembered templates, and without remembering any."""
        return self._all_findings(task, nodes, self._fresh_findings(task, nodes))

    def _all_findings(self, task: TaskInfo, nodes: NDArray[np.intp], findings: Findings) -> Why:
        """Return findings, to which the filters are added that are not stable."""
        state = self._state(task)
        if state is None:
            findings.add(np.ones(len(nodes), dtype=np.bool_), NO_STATE)
            return findings.why
        rows = self._ports_in_the_way(task)
        if rows:
            findings.add(self.k8s_nodes.any_port_used(rows, nodes), PORTS)
        counters = state.active_counters
        if counters is not None:
            refusals = counters.refusals(nodes)
            for refusal, status in POD_AFFINITY.items():
                findings.add(refusals == refusal, status)
        if state.uneven is not None:
            uneven = state.uneven[nodes]
            for reason, status in SPREAD.items():
                findings.add(uneven == reason, status)
        return findings.why

    def check_node(self, task: TaskInfo) -> Callable[[int], int] | None:
        """Return the same for one node, None unless pod number and stable filters are all that applies."""
        plain = self._state(task) is PLAIN and self.template_cache is None
        if not plain or self._ports_in_the_way(task):
            return None
        alone, when_full = (numbers.tolist() for numbers in self.stable.answers(task.shape))
        room_of = self.k8s_nodes.room_of
        return lambda node: alone[node] if room_of[node] > 0 else when_full[node]

    def is_static(self, task: TaskInfo) -> bool:
        """Return whether pod number and stable filters are all that applies."""
        return self._is_plain(task.shape) and self.template_cache is None and not self._ports_in_the_way(task)

    def check_classes(self, tasks: Sequence[TaskInfo]) -> ClassAnswers:
        """Return which of several settled tasks the nodes take."""
        whose, refusals = self.stable.distinct([task.shape for task in tasks])
        accepted = np.ascontiguousarray((refusals == FITS).T)
        room_of = self.k8s_nodes.room_of

        def accepts(nodes: NDArray[np.intp]) -> NDArray[np.bool_]:
            room = np.array([room_of[node] > 0 for node in nodes.tolist()])
            taken: NDArray[np.bool_] = accepted.take(nodes, axis=0).take(whose, axis=1) & room[:, np.newaxis]
            return taken

        return ClassAnswers(
            accepts,
            fixed=[row.tobytes() for row in accepted],
            changing=lambda node: room_of[node] > 0,
        )

    def _stable_answers(self, task: TaskInfo, nodes: NDArray[np.intp]) -> Why:
        """Return what pod number and stable filters say of each node, (K,)."""
        alone, when_full = self.stable.answers(task.shape)
        full = self.k8s_nodes.room[nodes] <= 0
        return np.where(full, when_full[nodes], alone[nodes]) if full.any() else alone[nodes]

    def _fresh_findings(self, task: TaskInfo, nodes: NDArray[np.intp]) -> Findings:
        """Return the same as findings that other filters add to."""
        fitting = self.stable.answers(task.shape)[0][nodes] == FITS
        return Findings(self.session.statuses, self._stable_answers(task, nodes), fitting)

    def _stable_findings(self, task: TaskInfo, nodes: NDArray[np.intp]) -> Findings:
        """Return `_fresh_findings`, or what is remembered of the pod's template instead."""
        if self.template_cache is None or not self.template_cache.applies_to(task):
            return self._fresh_findings(task, nodes)
        why = self._stable_answers(task, nodes)
        fitting = self.stable.answers(task.shape)[0][nodes] == FITS
        known_to_fit, known_to_refuse = self.template_cache.look_up(task, nodes, fitting)
        known = known_to_fit | known_to_refuse
        findings = Findings.none_yet(self.session.statuses, len(nodes))
        findings.add(self.k8s_nodes.room[nodes] <= 0, POD_NUMBER)
        findings.why = np.where(known, findings.why, why)
        findings.is_open = known | fitting
        findings.add(known_to_refuse, REFUSED_BY_CACHE)
        return findings

    def _ports_in_the_way(self, task: TaskInfo) -> list[int]:
        if not self.checks_ports or not self.k8s_nodes.ports:
            return []
        rows = self._port_rows.get(task.shape.number)
        if rows is None:
            wanted = task.shape.fact("host_ports", host_ports)
            rows = self._port_rows[task.shape.number] = self.k8s_nodes.conflicting_rows(wanted)
        return rows


def _spreads_hard(spec: Mapping[str, Any]) -> bool:
    return any(entry.get("whenUnsatisfiable") == HARD for entry in raw_constraints(spec))
