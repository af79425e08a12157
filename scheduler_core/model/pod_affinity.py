"""Affinity and anti-affinity of pods to other pods.

Source: kube-scheduler ``framework/types.go`` (AffinityTerm), ``plugins/interpodaffinity`` at 1.35.3.
"""

from __future__ import annotations

import marshal
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from scheduler_core.model.labels import Selector, SelectorError, labels_of, parse_selector
from scheduler_core.model.node_affinity import PREFERRED, REQUIRED

Namespaces = Mapping[str, Mapping[str, str]]


class AffinityTerm(NamedTuple):
    """One term of a pod's affinity or anti-affinity to other pods.

    Attributes
    ----------
    key : str
        The topology key: nodes with the same value of this label are one domain.
    selector : Selector or None
        Selects pods by their labels; None: none.
    namespaces : frozenset of str
        The namespaces that the term names.
    namespace_selector : Selector or None
        Further namespaces, by their labels; None: none.
    own_namespaces : frozenset of str
        The namespaces that the term names or selects if its pod is the incoming one.
    weight : int
        The weight of a preferred term.

    """

    key: str
    selector: Selector | None
    namespaces: frozenset[str]
    namespace_selector: Selector | None
    own_namespaces: frozenset[str]
    weight: int = 0

    def selects(self, namespace: str, labels: Mapping[str, str]) -> bool:
        """Return whether this term of the incoming pod selects an existing pod.

        The namespace selector is matched against an empty set of labels, so that one that only excludes
        labels selects every namespace.
        """
        if namespace not in self.own_namespaces and not _matches(self.namespace_selector, {}):
            return False
        return _matches(self.selector, labels)

    def selects_incoming(
        self, namespace: str, labels: Mapping[str, str], namespace_labels: Mapping[str, str]
    ) -> bool:
        """Return whether this term of an existing pod selects the incoming pod."""
        if namespace not in self.namespaces and not _matches(self.namespace_selector, namespace_labels):
            return False
        return _matches(self.selector, labels)


def _matches(selector: Selector | None, labels: Mapping[str, str]) -> bool:
    return selector is not None and selector.matches(labels)


class PodAffinity(NamedTuple):
    """All terms of a pod's specification about other pods.

    Attributes
    ----------
    problem : str
        Why a term cannot be parsed; empty if all can. A list with a malformed term counts as empty.
    repels : bool
        Whether the list of required anti-affinity terms, including malformed ones, is not empty.

    """

    required: tuple[AffinityTerm, ...] = ()
    required_anti: tuple[AffinityTerm, ...] = ()
    preferred: tuple[AffinityTerm, ...] = ()
    preferred_anti: tuple[AffinityTerm, ...] = ()
    problem: str = ""
    repels: bool = False

    @property
    def prefers(self) -> bool:
        """Return whether there is a preferred term of either kind."""
        return bool(self.preferred or self.preferred_anti)


def has_pod_affinity(spec: Mapping[str, Any]) -> bool:
    """Return whether a specification has pod affinity or anti-affinity; an empty object counts."""
    affinity = spec.get("affinity") or {}
    return affinity.get("podAffinity") is not None or affinity.get("podAntiAffinity") is not None


def pod_affinity_key(spec: Mapping[str, Any]) -> bytes:
    """Return a specification's pod affinity and anti-affinity as one key; empty without either."""
    if not has_pod_affinity(spec):
        return b""
    affinity = spec["affinity"]
    return marshal.dumps((affinity.get("podAffinity"), affinity.get("podAntiAffinity")), 2)


def prefers_pods(spec: Mapping[str, Any]) -> bool:
    """Return whether a specification has preferred terms about other pods."""
    return any(_list(spec, side, PREFERRED) for side in ("podAffinity", "podAntiAffinity"))


def raw_terms(spec: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return every term of a specification, weighted ones unwrapped."""
    return [
        entry.get("podAffinityTerm") or {} if kind == PREFERRED else entry
        for side in ("podAffinity", "podAntiAffinity")
        for kind in (REQUIRED, PREFERRED)
        for entry in _list(spec, side, kind)
    ]


def _list(spec: Mapping[str, Any], side: str, kind: str) -> Sequence[Mapping[str, Any]]:
    return ((spec.get("affinity") or {}).get(side) or {}).get(kind) or ()


class AffinityReader:
    """Reads the affinity terms of pods.

    Parameters
    ----------
    namespaces : mapping
        Labels of each namespace, by name.
    merges_label_keys : bool
        Whether matchLabelKeys and mismatchLabelKeys become part of the selector, as in the API server.

    """

    def __init__(self, namespaces: Namespaces, *, merges_label_keys: bool) -> None:
        self.namespaces = namespaces
        self.merges_label_keys = merges_label_keys

    def read(self, spec: Mapping[str, Any], namespace: str, labels: Mapping[str, str]) -> PodAffinity:
        """Return the affinity of a pod's specification to other pods."""
        problems: list[str] = []

        def terms(side: str, kind: str) -> tuple[AffinityTerm, ...]:
            try:
                return tuple(self._term(entry, kind, namespace, labels) for entry in _list(spec, side, kind))
            except SelectorError as error:
                problems.append(str(error))
                return ()

        required, preferred = terms("podAffinity", REQUIRED), terms("podAffinity", PREFERRED)
        required_anti, preferred_anti = (
            terms("podAntiAffinity", REQUIRED),
            terms("podAntiAffinity", PREFERRED),
        )
        return PodAffinity(
            required=required,
            required_anti=required_anti,
            preferred=preferred,
            preferred_anti=preferred_anti,
            problem="; ".join(problems),
            repels=bool(_list(spec, "podAntiAffinity", REQUIRED)),
        )

    def _term(
        self, entry: Mapping[str, Any], kind: str, namespace: str, labels: Mapping[str, str]
    ) -> AffinityTerm:
        weight = 0
        if kind == PREFERRED:
            weight, entry = int(entry.get("weight") or 0), entry.get("podAffinityTerm") or {}
        selector = parse_selector(entry.get("labelSelector"))
        if selector is not None and self.merges_label_keys:
            selector = _with_label_keys(selector, entry, labels)
        among = parse_selector(entry.get("namespaceSelector"))
        named = frozenset(entry.get("namespaces") or ())
        if not named and among is None:
            named = frozenset({namespace})
        return AffinityTerm(
            key=str(entry.get("topologyKey") or ""),
            selector=selector,
            namespaces=named,
            namespace_selector=among,
            own_namespaces=named | self._selected(among),
            weight=weight,
        )

    def _selected(self, selector: Selector | None) -> frozenset[str]:
        if selector is None or not selector.requirements:
            return frozenset()
        return frozenset(name for name, labels in self.namespaces.items() if selector.matches(labels))


def _with_label_keys(selector: Selector, entry: Mapping[str, Any], labels: Mapping[str, str]) -> Selector:
    for field, operator in (("matchLabelKeys", "In"), ("mismatchLabelKeys", "NotIn")):
        for key in entry.get(field) or ():
            if key in labels:
                selector = selector.with_requirement(key, operator, labels[key])
    return selector


def namespace_labels(namespaces: Sequence[Mapping[str, Any]]) -> Namespaces:
    """Return the labels of each namespace, by name."""
    return {namespace["metadata"]["name"]: labels_of(namespace) for namespace in namespaces}
