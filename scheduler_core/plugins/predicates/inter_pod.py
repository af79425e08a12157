"""Do the pods that are there let one more in?

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
    """Which of the three rules a node breaks first."""

    NONE = 0
    AFFINITY = 1
    OWN_ANTI_AFFINITY = 2
    EXISTING_ANTI_AFFINITY = 3


class Tally(NamedTuple):
    """Pods counted by the value of one node label.

    Attributes
    ----------
    totals : (V + 1,) int64
        Pods on the nodes with each value; the last, of nodes without the label, never counts.

    """

    column: Column
    totals: Counts

    def found(self, nodes: NDArray[np.intp]) -> Mask:
        """Return for which nodes some pod was counted at their value, (K,)."""
        codes = self.column.codes[nodes]
        found: Mask = (self.totals[codes] > 0) & (codes < len(self.column.values))
        return found

    def is_empty(self) -> bool:
        """Return whether no pod was counted anywhere."""
        return not self.totals[:-1].any()

    def change(self, node: int, pods: int) -> None:
        """Count more or fewer pods on a node."""
        self.totals[self.column.codes[node]] += pods

    def copy(self) -> Tally:
        """Return an independent copy."""
        return Tally(self.column, self.totals.copy())


class PodCounters:
    """What the filter compares for one pod.

    Attributes
    ----------
    wanted : list of Tally
        Per required affinity term: pods that match all of them.
    unwanted : list of Tally
        Per required anti-affinity term: pods that match it.
    repelling : dict of str to Tally
        By topology key: required anti-affinity terms of other pods that match this one.
    wants_itself : bool
        The pod matches all its own affinity terms.

    """

    def __init__(
        self,
        wanted: Sequence[Tally],
        unwanted: Sequence[Tally],
        repelling: dict[str, Tally],
        wants_itself: bool,
    ) -> None:
        self.wanted = list(wanted)
        self.unwanted = list(unwanted)
        self.repelling = repelling
        self.wants_itself = wants_itself

    def refusals(self, nodes: NDArray[np.intp]) -> NDArray[np.int8]:
        """Return the first rule that each node breaks, (K,) numbers of `Refusal`."""
        refusals = np.zeros(len(nodes), dtype=np.int8)
        for tally in self.repelling.values():
            refusals[tally.found(nodes)] = Refusal.EXISTING_ANTI_AFFINITY
        for tally in self.unwanted:
            refusals[tally.found(nodes)] = Refusal.OWN_ANTI_AFFINITY
        if self.wanted:
            refusals[~self._wanted_on(nodes)] = Refusal.AFFINITY
        return refusals

    def _wanted_on(self, nodes: NDArray[np.intp]) -> Mask:
        labelled = np.ones(len(nodes), dtype=np.bool_)
        found = np.ones(len(nodes), dtype=np.bool_)
        for tally in self.wanted:
            labelled &= tally.column.codes[nodes] < len(tally.column.values)
            found &= tally.found(nodes)
        is_first = self.wants_itself and all(tally.is_empty() for tally in self.wanted)
        return labelled if is_first else found

    def copy(self) -> PodCounters:
        """Return an independent copy."""
        return PodCounters(
            [tally.copy() for tally in self.wanted],
            [tally.copy() for tally in self.unwanted],
            {key: tally.copy() for key, tally in self.repelling.items()},
            self.wants_itself,
        )


def count_pods(k8s_nodes: K8sNodeSnapshot, kind: SelectorClass) -> PodCounters | None:
    """Return what the filter compares for a pod of this kind; None when nothing can refuse it."""
    affinity = kind.affinity
    repelling = {key: tally for key, tally in _repelling(k8s_nodes, kind).items() if not tally.is_empty()}
    if not repelling and not affinity.required and not affinity.required_anti:
        return None
    wanted = []
    if affinity.required:
        matching = k8s_nodes.pods.live_counts(
            ("wanted", affinity.required), partial(means_all, affinity.required)
        )
        wanted = [_tally(k8s_nodes, term.key, matching) for term in affinity.required]
    unwanted = [
        _tally(k8s_nodes, term.key, k8s_nodes.pods.live_counts(("unwanted", term), partial(selects, term)))
        for term in affinity.required_anti
    ]
    return PodCounters(wanted, unwanted, repelling, bool(means_all(affinity.required, kind)))


def _repelling(k8s_nodes: K8sNodeSnapshot, kind: SelectorClass) -> dict[str, Tally]:
    """Count the terms of other pods that mean this kind, on nodes that had such pods at the start."""
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
    """Count one pod of kind `other` more (1) or less (-1) on a node, for a pod of kind `kind`."""
    if means_all(kind.affinity.required, other):
        for tally in counters.wanted:
            tally.change(node, sign)
    for term, tally in zip(kind.affinity.required_anti, counters.unwanted, strict=True):
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


def means_all(terms: Sequence[AffinityTerm], other: SelectorClass) -> int:
    """Return 1 when `other` is meant by every one of the terms of the pod being placed, else 0."""
    return int(all(selects(term, other) for term in terms))


def selects(term: AffinityTerm, other: SelectorClass) -> int:
    """Return 1 when a term of the pod being placed means `other`, else 0."""
    return int(term.selects(other.namespace, other.labels))


def repels(kind: SelectorClass, namespace_labels: Mapping[str, str], key: str, other: SelectorClass) -> int:
    """Return how many required anti-affinity terms of `other` over one topology key mean `kind`."""
    return sum(
        term.key == key and term.selects_incoming(kind.namespace, kind.labels, namespace_labels)
        for term in other.affinity.required_anti
    )
