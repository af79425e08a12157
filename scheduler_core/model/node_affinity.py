"""Node selectors and node affinity of pods.

Source: component-helpers ``scheduling/corev1/nodeaffinity/nodeaffinity.go`` at 1.35.3.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scheduler_core.model.labels import (
    NODE_OPERATORS,
    Mask,
    NodeLabels,
    SelectorError,
    equality,
    parse_requirement,
)

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
NAME_FIELD = "metadata.name"

Term = Mapping[str, Any]


def required_terms(spec: Mapping[str, Any]) -> Sequence[Term] | None:
    """Return the terms of which a node must match at least one; None if the pod has no required affinity."""
    required = _node_affinity(spec).get(REQUIRED)
    return None if required is None else required.get("nodeSelectorTerms") or ()


def preferred_terms(spec: Mapping[str, Any]) -> list[tuple[int, Term]]:
    """Return (weight, term) of each preference, without empty ones and those of weight 0."""
    terms = []
    for entry in _node_affinity(spec).get(PREFERRED) or ():
        weight, term = int(entry.get("weight") or 0), entry.get("preference") or {}
        if weight != 0 and not is_empty(term):
            terms.append((weight, term))
    return terms


def _node_affinity(spec: Mapping[str, Any]) -> Mapping[str, Any]:
    return (spec.get("affinity") or {}).get("nodeAffinity") or {}


def is_empty(term: Term) -> bool:
    """Return whether a term has neither expressions nor fields; such a term matches no node."""
    return not term.get("matchExpressions") and not term.get("matchFields")


def names_conflict(spec: Mapping[str, Any]) -> bool:
    """Return whether the names in every required term exclude each other."""
    terms = required_terms(spec)
    if not terms:
        return False
    for term in terms:
        named = [
            set(entry.get("values") or ())
            for entry in term.get("matchFields") or ()
            if entry.get("key") == NAME_FIELD and entry.get("operator") == "In"
        ]
        if not named or set.intersection(*named):
            return False
    return True


def matching_nodes(spec: Mapping[str, Any], labels: NodeLabels) -> Mask:
    """Return which nodes satisfy the node selector and the required node affinity of a pod, (N,)."""
    mask = np.ones(len(labels), dtype=np.bool_)
    for key, value in (spec.get("nodeSelector") or {}).items():
        mask &= labels.column(key).holds(equality(key, value))
    terms = required_terms(spec)
    if terms is None:
        return mask
    matched = np.zeros(len(labels), dtype=np.bool_)
    for term in terms:
        try:
            matched |= term_matches(term, labels)
        except SelectorError:
            continue  # a malformed term matches nothing; the others still count
    return mask & matched


def preference(spec: Mapping[str, Any], labels: NodeLabels) -> NDArray[np.int64]:
    """Return the weights of the preferred terms that each node matches, summed, (N,).

    Raises
    ------
    SelectorError
        If a term that counts is malformed.

    """
    total = np.zeros(len(labels), dtype=np.int64)
    for weight, term in preferred_terms(spec):
        total += weight * term_matches(term, labels)
    return total


def term_matches(term: Term, labels: NodeLabels) -> Mask:
    """Return which nodes match every expression and field of a term, (N,).

    Raises
    ------
    SelectorError
        If any of them is malformed.

    """
    expressions = [parse_requirement(entry, NODE_OPERATORS) for entry in term.get("matchExpressions") or ()]
    fields = [_parse_field(entry) for entry in term.get("matchFields") or ()]
    mask = np.full(len(labels), not is_empty(term))
    for requirement in expressions:
        mask &= labels.column(requirement.key).holds(requirement)
    for key, wanted, value in fields:
        named = np.array([name == value for name in labels.names], dtype=np.bool_)
        mask &= (named if key == NAME_FIELD else np.full(len(labels), value == "")) == wanted
    return mask


def _parse_field(entry: Mapping[str, Any]) -> tuple[str, bool, str]:
    """Return (field, whether it must have the value, the value)."""
    operator, values = entry.get("operator"), list(entry.get("values") or ())
    if operator not in ("In", "NotIn"):
        raise SelectorError(f"operator: Unsupported value: {operator!r}")
    if len(values) != 1:
        raise SelectorError("values: Invalid value: must have one element")
    return str(entry.get("key") or ""), operator == "In", str(values[0])
