"""The inter-pod affinity filter.

Source: kube-scheduler ``plugins/interpodaffinity/filtering.go`` at 1.35.3.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import IntEnum
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from scheduler_core.model.k8s_nodes import K8sNodeSnapshot
from scheduler_core.model.labels import Column, Mask
from scheduler_core.model.pod_affinity import AffinityTerm
from scheduler_core.model.selector_classes import Counts, SelectorClass


class Refusal(IntEnum):
    """The first of the three rules that a node violates."""

    NONE = 0
    AFFINITY = 1
    OWN_ANTI_AFFINITY = 2
    EXISTING_ANTI_AFFINITY = 3


class Tally(NamedTuple):
    """Numbers of pods by the value of one node label.

    Attributes
    ----------
    totals : (V + 1,) int64
        The number of pods on the nodes with each value; the last, for nodes without the label, is ignored.

    """

    column: Column
    totals: Counts

    def found(self, nodes: NDArray[np.intp]) -> Mask:
        """Return which nodes have a label value for which any pod was counted, (K,)."""
        codes = self.column.codes[nodes]
        found: Mask = (self.totals[codes] > 0) & (codes < len(self.column.values))
        return found

    def is_empty(self) -> bool:
        """Return whether no pod was counted on any labelled node."""
        return not self.totals[:-1].any()

    def change(self, node: int, pods: int) -> None:
        """Count more or fewer pods on a node."""
        self.totals[self.column.codes[node]] += pods

    def copy(self) -> Tally:
        """Return an independent copy."""
        return Tally(self.column, self.totals.copy())


class PodCounters:
    """The numbers that the filter compares for one pod.

    Attributes
    ----------
    required : list of Tally
        For each required affinity term: pods that match all of them.
    required_anti : list of Tally
        For each required anti-affinity term: pods that match it.
    repelling : dict of str to Tally
        By topology key: required anti-affinity terms of other pods that match this one.
    matches_itself : bool
        Whether the pod matches all its own affinity terms.

    """

    def __init__(
        self,
        required: Sequence[Tally],
        required_anti: Sequence[Tally],
        repelling: dict[str, Tally],
        matches_itself: bool,
    ) -> None:
        self.required = list(required)
        self.required_anti = list(required_anti)
        self.repelling = repelling
        self.matches_itself = matches_itself

    def refusals(self, nodes: NDArray[np.intp]) -> NDArray[np.int8]:
        """Return the first rule that each node violates, (K,) numbers of `Refusal`."""
        refusals = np.zeros(len(nodes), dtype=np.int8)
        for tally in self.repelling.values():
            refusals[tally.found(nodes)] = Refusal.EXISTING_ANTI_AFFINITY
        for tally in self.required_anti:
            refusals[tally.found(nodes)] = Refusal.OWN_ANTI_AFFINITY
        if self.required:
            refusals[~self._meets_affinity(nodes)] = Refusal.AFFINITY
        return refusals

    def _meets_affinity(self, nodes: NDArray[np.intp]) -> Mask:
        labelled = np.ones(len(nodes), dtype=np.bool_)
        found = np.ones(len(nodes), dtype=np.bool_)
        for tally in self.required:
            labelled &= tally.column.codes[nodes] < len(tally.column.values)
            found &= tally.found(nodes)
        is_first = self.matches_itself and all(tally.is_empty() for tally in self.required)
        return labelled if is_first else found

    def copy(self) -> PodCounters:
        """Return an independent copy."""
        return PodCounters(
            [tally.copy() for tally in self.required],
            [tally.copy() for tally in self.required_anti],
            {key: tally.copy() for key, tally in self.repelling.items()},
            self.matches_itself,
        )


def count_pods(k8s_nodes: K8sNodeSnapshot, kind: SelectorClass) -> PodCounters | None:
    """Return the counters for a pod of this kind; None if no node can refuse it."""
    affinity = kind.affinity
    repelling = {key: tally for key, tally in _repelling(k8s_nodes, kind).items() if not tally.is_empty()}
    if not repelling and not affinity.required and not affinity.required_anti:
        return None
    required = []
    if affinity.required:
        matching = k8s_nodes.pods.live_counts(
            ("required", affinity.required), partial(all_select, affinity.required)
        )
        required = [_tally(k8s_nodes, term.key, matching) for term in affinity.required]
    required_anti = [
        _tally(
            k8s_nodes, term.key, k8s_nodes.pods.live_counts(("required_anti", term), partial(selects, term))
        )
        for term in affinity.required_anti
    ]
    return PodCounters(required, required_anti, repelling, bool(all_select(affinity.required, kind)))


def _repelling(k8s_nodes: K8sNodeSnapshot, kind: SelectorClass) -> dict[str, Tally]:
    """Count the terms of other pods that match this kind, on nodes that had such pods at the start."""
    if not k8s_nodes.pods.repelling.any():
        return {}
    namespace_labels = k8s_nodes.pods.namespaces.get(kind.namespace, {})
    tallies = {}
    for key in k8s_nodes.pods.repelling_keys:
        counts = k8s_nodes.pods.live_counts(
            ("repelling", kind.identity, key), partial(repels, kind, namespace_labels, key)
        )
        tallies[key] = _tally(k8s_nodes, key, counts * k8s_nodes.pods.repelling)
    return tallies


def change_counters(
    counters: PodCounters,
    k8s_nodes: K8sNodeSnapshot,
    kind: SelectorClass,
    other: SelectorClass,
    node: int,
    sign: int,
) -> None:
    """Add (1) or subtract (-1) a pod of kind `other` on a node in the counters for pods of `kind`."""
    if all_select(kind.affinity.required, other):
        for tally in counters.required:
            tally.change(node, sign)
    for term, tally in zip(kind.affinity.required_anti, counters.required_anti, strict=True):
        tally.change(node, sign * selects(term, other))
    namespace_labels = k8s_nodes.pods.namespaces.get(kind.namespace, {})
    for key in {term.key: None for term in other.affinity.required_anti}:
        times = repels(kind, namespace_labels, key, other)
        if times:
            column = k8s_nodes.labels.column(key)
            nothing = Tally(column, np.zeros(len(column.values) + 1, dtype=np.int64))
            counters.repelling.setdefault(key, nothing).change(node, sign * times)


def _tally(k8s_nodes: K8sNodeSnapshot, key: str, per_node: Counts) -> Tally:
    column = k8s_nodes.labels.column(key)
    return Tally(column, column.sums(per_node))


def all_select(terms: Sequence[AffinityTerm], other: SelectorClass) -> int:
    """Return 1 if every term of the incoming pod selects `other`, else 0."""
    return int(all(selects(term, other) for term in terms))


def selects(term: AffinityTerm, other: SelectorClass) -> int:
    """Return 1 if a term of the incoming pod selects `other`, else 0."""
    return int(term.selects(other.namespace, other.labels))


def repels(kind: SelectorClass, namespace_labels: Mapping[str, str], key: str, other: SelectorClass) -> int:
    """Return how many required anti-affinity terms of `other` over one topology key select `kind`."""
    return sum(
        term.key == key and term.selects_incoming(kind.namespace, kind.labels, namespace_labels)
        for term in other.affinity.required_anti
    )
