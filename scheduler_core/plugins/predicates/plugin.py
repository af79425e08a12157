"""Registration of predicates' callbacks, and the filters of one session.

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
from scheduler_core.framework.living_view import nothing_to_renew
from scheduler_core.framework.plugin_fn import shape_only
from scheduler_core.framework.session import Session
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
from scheduler_core.plugins.predicates.spread import SpreadRefusal, spread_refusals
from scheduler_core.plugins.predicates.stable import StableFilters
from scheduler_core.plugins.predicates.template_cache import TemplateCache
from scheduler_core.release import Rule

PORTS = Status(Code.UNSCHEDULABLE, "node(s) didn't have free ports for the requested pod ports", "NodePorts")
NO_STATE = Status(Code.ERROR, "no pre-predicate has checked the pod in this session", NAME)
REFUSED_BY_CACHE = Status(Code.ERROR, "plugin equivalence cache predicates failed", "predicate.CacheEnable")
_UNRESOLVABLE = Code.UNSCHEDULABLE_AND_UNRESOLVABLE
POD_AFFINITY: Mapping[Refusal, Status] = {
    Refusal.AFFINITY: Status(_UNRESOLVABLE, "node(s) didn't match pod affinity rules", "InterPodAffinity"),
    Refusal.OWN_ANTI_AFFINITY: Status(
        Code.UNSCHEDULABLE, "node(s) didn't match pod anti-affinity rules", "InterPodAffinity"
    ),
    Refusal.EXISTING_ANTI_AFFINITY: Status(
        Code.UNSCHEDULABLE, "node(s) didn't satisfy existing pods anti-affinity rules", "InterPodAffinity"
    ),
}
_SPREAD, _SKEWED = "PodTopologySpread", "node(s) didn't match pod topology spread constraints"
SPREAD: Mapping[SpreadRefusal, Status] = {
    SpreadRefusal.MISSING_LABEL: Status(
        _UNRESOLVABLE, f"{_SKEWED} (missing required label)", _SPREAD, permanent=True
    ),
    SpreadRefusal.SKEW: Status(Code.UNSCHEDULABLE, _SKEWED, _SPREAD),
}


def open_session(session: Session, arguments: Arguments) -> None:
    """Register the callbacks of predicates."""
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
    session.events.add_handler(
        allocate=plugin.allocate, deallocate=plugin.k8s_nodes.remove, on_discard=plugin.on_discard
    )
    dry_runs = DryRuns(plugin.k8s_nodes)
    session.registry.add_simulate_add_task(NAME, dry_runs.add_task)
    session.registry.add_simulate_remove_task(NAME, dry_runs.remove_task)
    session.registry.add_simulate_predicate(NAME, dry_runs.predicate)
    if plugin.template_cache is None:
        session.renewals[NAME] = nothing_to_renew


class Predicates:
    """The filters of one session, and which of them are enabled."""

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

    # pre-predicate, events

    def pre_predicate(self, task: TaskInfo) -> None:
        """Compute the pod's state for the filters.

        Raises
        ------
        PrePredicateError
            If a requirement of the pod is contradictory or malformed.

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
            state.spread = self._spread_refusals(task)
        self._states[task.uid] = state

    def _is_plain(self, shape: PodShape) -> bool:
        """Return whether a shape requires nothing that must be counted or parsed."""
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

    def _spread_refusals(self, task: TaskInfo) -> NDArray[np.int8]:
        try:
            constraints = constraints_of(task.shape.spec, task.labels(), HARD)
        except SelectorError as error:
            raise PrePredicateError(f"plugin PodTopologySpread pre-predicates failed {error}") from error
        return spread_refusals(self.k8s_nodes, task, constraints)

    def allocate(self, task: TaskInfo) -> None:
        """Add an allocated pod to its node.

        Raises
        ------
        EventError
            If the pod has no pre-predicate state in this session, which reserving requires.

        """
        if task.uid not in self._states:
            if not self.session.release.follows(Rule.FAILED_RESERVE_LEAVES_NO_POD):
                self.k8s_nodes.add(task)
            raise EventError(f"pod {task.key} has no state in this session: not found")
        self.k8s_nodes.add(task)

    def on_discard(self, tasks: Sequence[TaskInfo]) -> None:
        """Remove pods from their nodes, and add those that have a state in this session again."""
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
        """Return whether a node's result depends only on that node and the pod's shape."""
        if self.template_cache is not None and self.template_cache.applies_to(task):
            return False
        state = self._state(task)
        return state is not None and state.spread is None and state.active_counters is None

    # predicate

    def predicate(self, task: TaskInfo, nodes: NDArray[np.intp]) -> Why:
        """Return why each node refuses a pod, (K,)."""
        state = self._state(task)
        rows = self._port_conflicts(task)
        if state is PLAIN and not rows and self.template_cache is None:
            return self._stable_answers(task, nodes)
        return self._all_findings(task, nodes, self._stable_findings(task, nodes))

    def explain(self, task: TaskInfo, nodes: NDArray[np.intp]) -> Why:
        """Return the same without reading or filling the template cache."""
        return self._all_findings(task, nodes, self._fresh_findings(task, nodes))

    def _all_findings(self, task: TaskInfo, nodes: NDArray[np.intp], findings: Findings) -> Why:
        """Add the statuses of the filters that are not stable, and return all."""
        state = self._state(task)
        if state is None:
            findings.add(np.ones(len(nodes), dtype=np.bool_), NO_STATE)
            return findings.why
        rows = self._port_conflicts(task)
        if rows:
            findings.add(self.k8s_nodes.any_port_used(rows, nodes), PORTS)
        counters = state.active_counters
        if counters is not None:
            refusals = counters.refusals(nodes)
            for rule, status in POD_AFFINITY.items():
                findings.add(refusals == rule, status)
        if state.spread is not None:
            spread = state.spread[nodes]
            for violation, status in SPREAD.items():
                findings.add(spread == violation, status)
        return findings.why

    def check_node(self, task: TaskInfo) -> Callable[[int], int] | None:
        """Return the same for one node; None unless only pod number and stable filters apply."""
        plain = self._state(task) is PLAIN and self.template_cache is None
        if not plain or self._port_conflicts(task):
            return None
        alone, when_full = (numbers.tolist() for numbers in self.stable.answers(task.shape))
        room_of = self.k8s_nodes.room_of
        return lambda node: alone[node] if room_of[node] > 0 else when_full[node]

    def is_static(self, task: TaskInfo) -> bool:
        """Return whether only pod number and stable filters apply."""
        return self._is_plain(task.shape) and self.template_cache is None and not self._port_conflicts(task)

    def check_classes(self, tasks: Sequence[TaskInfo]) -> ClassAnswers:
        """Return which of several static tasks the nodes accept."""
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
        """Return the statuses of pod number and stable filters for each node, (K,)."""
        alone, when_full = self.stable.answers(task.shape)
        full = self.k8s_nodes.room[nodes] <= 0
        return np.where(full, when_full[nodes], alone[nodes]) if full.any() else alone[nodes]

    def _fresh_findings(self, task: TaskInfo, nodes: NDArray[np.intp]) -> Findings:
        """Return the same as findings."""
        fitting = self.stable.answers(task.shape)[0][nodes] == FITS
        return Findings(self.session.statuses, self._stable_answers(task, nodes), fitting)

    def _stable_findings(self, task: TaskInfo, nodes: NDArray[np.intp]) -> Findings:
        """Return `_fresh_findings`, or the cached results for the pod's template."""
        if self.template_cache is None or not self.template_cache.applies_to(task):
            return self._fresh_findings(task, nodes)
        why = self._stable_answers(task, nodes)
        fitting = self.stable.answers(task.shape)[0][nodes] == FITS
        known_to_fit, known_to_refuse = self.template_cache.look_up(task, nodes, fitting)
        known = known_to_fit | known_to_refuse
        findings = Findings.empty(self.session.statuses, len(nodes))
        findings.add(self.k8s_nodes.room[nodes] <= 0, POD_NUMBER)
        findings.why = np.where(known, findings.why, why)
        findings.is_open = known | fitting
        findings.add(known_to_refuse, REFUSED_BY_CACHE)
        return findings

    def _port_conflicts(self, task: TaskInfo) -> list[int]:
        if not self.checks_ports or not self.k8s_nodes.ports:
            return []
        rows = self._port_rows.get(task.shape.number)
        if rows is None:
            wanted = task.shape.fact("host_ports", host_ports)
            rows = self._port_rows[task.shape.number] = self.k8s_nodes.conflicting_rows(wanted)
        return rows


def _spreads_hard(spec: Mapping[str, Any]) -> bool:
    return any(entry.get("whenUnsatisfiable") == HARD for entry in raw_constraints(spec))
