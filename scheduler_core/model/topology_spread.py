"""Topology spread constraints of pods.

Source: kube-scheduler ``plugins/podtopologyspread/common.go`` at 1.35.3.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from scheduler_core.model.labels import Selector, parse_selector

HOSTNAME = "kubernetes.io/hostname"
ZONE = "topology.kubernetes.io/zone"
HARD = "DoNotSchedule"
SOFT = "ScheduleAnyway"


class SpreadConstraint(NamedTuple):
    """One constraint of a pod.

    Attributes
    ----------
    key : str
        Nodes with the same value of this label are one domain.
    selector : Selector or None
        Selects the pods that count; None: no pods, not even the pod itself.
    honors_affinity, honors_taints : bool
        Whether nodes that the pod's node affinity or tolerations exclude are not counted.

    """

    key: str
    max_skew: int
    selector: Selector | None
    min_domains: int = 1
    honors_affinity: bool = True
    honors_taints: bool = False

    def matches_itself(self, labels: Mapping[str, str]) -> bool:
        """Return whether the constraint selects the pod itself; an empty selector does."""
        return self.selector is not None and self.selector.matches(labels)

    def counts(self, labels: Mapping[str, str]) -> bool:
        """Return whether an existing pod counts; with an empty selector none does."""
        return (
            self.selector is not None and bool(self.selector.requirements) and self.selector.matches(labels)
        )


def raw_constraints(spec: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """Return the constraints as written in the pod."""
    constraints: Sequence[Mapping[str, Any]] = spec.get("topologySpreadConstraints") or ()
    return constraints


def constraints_of(
    spec: Mapping[str, Any], labels: Mapping[str, str], when_unsatisfiable: str
) -> tuple[SpreadConstraint, ...]:
    """Return a pod's own constraints of one kind; values of matchLabelKeys are read from the pod's labels.

    Raises
    ------
    SelectorError
        If a selector is malformed.

    """
    return tuple(
        _constraint(entry, labels)
        for entry in raw_constraints(spec)
        if entry.get("whenUnsatisfiable") == when_unsatisfiable
    )


def _constraint(entry: Mapping[str, Any], labels: Mapping[str, str]) -> SpreadConstraint:
    selector = parse_selector(entry.get("labelSelector"))
    for key in entry.get("matchLabelKeys") or ():
        if selector is not None and key in labels:
            selector = selector.with_requirement(key, "In", labels[key])
    minimum = entry.get("minDomains")
    return SpreadConstraint(
        key=str(entry.get("topologyKey") or ""),
        max_skew=int(entry.get("maxSkew") or 0),
        selector=selector,
        min_domains=1 if minimum is None else int(minimum),
        honors_affinity=(entry.get("nodeAffinityPolicy") or "Honor") == "Honor",
        honors_taints=entry.get("nodeTaintsPolicy") == "Honor",
    )


def default_constraints(selector: Selector) -> tuple[SpreadConstraint, ...]:
    """Return the default constraints of a pod that services select and that has no constraints of its own."""
    return SpreadConstraint(HOSTNAME, 3, selector), SpreadConstraint(ZONE, 5, selector)
