"""Label selectors, and the labels of all nodes as columns.

Source: apimachinery ``pkg/labels/selector.go`` at 1.35.3.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from scheduler_core.errors import CoreError
from scheduler_core.resource_names import is_qualified_name

Mask = NDArray[np.bool_]

_VALUE = re.compile(r"([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?", re.ASCII)
_INTEGER = re.compile(r"[+-]?\d+", re.ASCII)
LABEL_OPERATORS = frozenset({"In", "NotIn", "Exists", "DoesNotExist"})
NODE_OPERATORS = LABEL_OPERATORS | {"Gt", "Lt"}


class SelectorError(CoreError):
    """A selector that Kubernetes cannot parse."""


class Requirement(NamedTuple):
    """One condition on the value of one label."""

    key: str
    operator: str
    values: frozenset[str]

    def holds(self, value: str | None) -> bool:
        """Return whether a value satisfies it; None: the label is missing."""
        if self.operator == "In":
            return value is not None and value in self.values
        if self.operator == "NotIn":
            return value is None or value not in self.values
        if self.operator == "Exists":
            return value is not None
        if self.operator == "DoesNotExist":
            return value is None
        found = None if value is None else integer(value)
        bound = integer(next(iter(self.values)))
        if found is None or bound is None:
            return False
        return found > bound if self.operator == "Gt" else found < bound


def integer(text: str) -> int | None:
    """Return the 64-bit integer in base 10 that a text spells, None for any other text."""
    if _INTEGER.fullmatch(text) is None:
        return None
    value = int(text)
    return value if -(2**63) <= value < 2**63 else None


def is_label_value(text: object) -> bool:
    """Return whether a text may be the value of a label."""
    return isinstance(text, str) and len(text) <= 63 and _VALUE.fullmatch(text) is not None


def parse_requirement(entry: Mapping[str, Any], operators: frozenset[str] = LABEL_OPERATORS) -> Requirement:
    """Return one entry of matchExpressions.

    Raises
    ------
    SelectorError
        If Kubernetes refuses it: unknown operator, wrong number of values, an illegal key or value.

    """
    key, operator = str(entry.get("key") or ""), str(entry.get("operator") or "")
    values = list(entry.get("values") or ())
    if operator not in operators:
        raise SelectorError(f'"{operator}" is not a valid label selector operator')
    if not is_qualified_name(key):
        raise SelectorError(f"key: Invalid value: {key!r}")
    if operator in ("In", "NotIn") and not values:
        raise SelectorError(f"values: Invalid value: for '{operator}', values set can't be empty")
    if operator in ("Exists", "DoesNotExist") and values:
        raise SelectorError(f"values: Invalid value: values set must be empty for '{operator}'")
    if operator in ("Gt", "Lt") and (len(values) != 1 or integer(str(values[0])) is None):
        raise SelectorError(f"values: Invalid value: for '{operator}', exactly one integer is needed")
    for value in values:
        if not is_label_value(value):
            raise SelectorError(f"values[{key}]: Invalid value: {value!r}")
    return Requirement(key, operator, frozenset(values))


class Selector(NamedTuple):
    """A conjunction of requirements; without any it matches everything."""

    requirements: tuple[Requirement, ...] = ()

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Return whether a set of labels satisfies every requirement."""
        return all(requirement.holds(labels.get(requirement.key)) for requirement in self.requirements)

    def labels(self) -> set[str]:
        """Return the labels that the selector reads."""
        return {requirement.key for requirement in self.requirements}

    def with_requirement(self, key: str, operator: str, value: str) -> Selector:
        """Return the selector with one more requirement."""
        return Selector((*self.requirements, Requirement(key, operator, frozenset({value}))))


def equality(key: str, value: str) -> Requirement:
    """Return the requirement that a label has one value."""
    return Requirement(key, "In", frozenset({value}))


def parse_selector(raw: Mapping[str, Any] | None) -> Selector | None:
    """Return a LabelSelector; an absent one gives None, which matches nothing.

    Raises
    ------
    SelectorError
        If any part of it is malformed.

    """
    if raw is None:
        return None
    equalities = [
        {"key": k, "operator": "In", "values": [v]} for k, v in (raw.get("matchLabels") or {}).items()
    ]
    entries = [*equalities, *(raw.get("matchExpressions") or ())]
    return Selector(tuple(parse_requirement(entry) for entry in entries))


def labels_of(thing: Mapping[str, Any]) -> Mapping[str, str]:
    """Return the labels of an object."""
    labels: Mapping[str, str] = thing["metadata"].get("labels") or {}
    return labels


class Column(NamedTuple):
    """One label of all nodes.

    Attributes
    ----------
    codes : (N,) intp
        The index in `values` of each node's value; ``len(values)`` if it lacks the label.
    values : list of str
        Distinct values, in order of first occurrence.

    """

    codes: NDArray[np.intp]
    values: list[str]

    def present(self) -> Mask:
        """Return which nodes have the label, (N,)."""
        present: Mask = self.codes < len(self.values)
        return present

    def sums(self, amounts: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the sum of per-node amounts over each value, (V + 1,); the last: nodes without it."""
        return np.bincount(self.codes, weights=amounts, minlength=len(self.values) + 1).astype(np.int64)

    def holds(self, requirement: Requirement) -> Mask:
        """Return which nodes satisfy a requirement on this label, (N,)."""
        satisfied = np.array([*(requirement.holds(value) for value in self.values), requirement.holds(None)])
        mask: Mask = satisfied[self.codes]
        return mask


class NodeLabels:
    """The labels of all nodes, column by column; a column is read when it is first used."""

    def __init__(self, names: Sequence[str], nodes: Sequence[Mapping[str, Any]]) -> None:
        self.names = names
        self._labels = [labels_of(node) for node in nodes]
        self._columns: dict[str, Column] = {}

    def __len__(self) -> int:
        return len(self.names)

    def column(self, key: str) -> Column:
        """Return one label of all nodes."""
        column = self._columns.get(key)
        if column is None:
            column = self._columns[key] = self._read(key)
        return column

    def _read(self, key: str) -> Column:
        index: dict[str, int] = {}
        missing = -1
        codes = np.array(
            [
                missing if (value := labels.get(key)) is None else index.setdefault(value, len(index))
                for labels in self._labels
            ],
            dtype=np.intp,
        )
        codes[codes == missing] = len(index)
        return Column(codes, list(index))

    def all_present(self, keys: Iterable[str]) -> Mask:
        """Return which nodes have every one of the labels, (N,)."""
        mask = np.ones(len(self), dtype=np.bool_)
        for key in keys:
            mask &= self.column(key).present()
        return mask
