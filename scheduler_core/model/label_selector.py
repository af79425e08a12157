"""Which labels does a selector pick?

Source: Kubernetes ``apimachinery/pkg/labels/selector.go`` and ``apis/meta/v1/helpers.go`` at v1.35.3.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from scheduler_core.errors import InputError
from scheduler_core.resource import is_qualified_name

_VALUE = re.compile(r"([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?", re.ASCII)
_INTEGER = re.compile(r"[+-]?\d+", re.ASCII)


class SelectorError(InputError):
    """A requirement that Kubernetes does not accept."""


class Requirement(NamedTuple):
    """One condition on one label: In, NotIn, Exists, DoesNotExist, Gt or Lt."""

    key: str
    operator: str
    values: tuple[str, ...]

    @classmethod
    def read(cls, entry: Mapping[str, Any]) -> Requirement:
        """Return a requirement as written in `matchExpressions`; raises SelectorError for an invalid one."""
        requirement = cls(
            str(entry.get("key") or ""), str(entry.get("operator") or ""), tuple(entry.get("values") or ())
        )
        requirement._check()
        return requirement

    def _check(self) -> None:
        key, operator, values = self
        if operator in ("In", "NotIn"):
            valid = bool(values)
        elif operator in ("Exists", "DoesNotExist"):
            valid = not values
        else:
            valid = operator in ("Gt", "Lt") and len(values) == 1 and as_int64(values[0]) is not None
        if not valid or not is_qualified_name(key) or not all(_is_label_value(value) for value in values):
            raise SelectorError(f"{key!r} {operator!r} {list(values)} is not a requirement on a label")

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Tell whether the labels fulfil it; a missing label fulfils NotIn and DoesNotExist."""
        key, operator, values = self
        if operator == "In":
            return key in labels and labels[key] in values
        if operator == "NotIn":
            return labels.get(key) not in values
        if operator in ("Exists", "DoesNotExist"):
            return (key in labels) is (operator == "Exists")
        held, limit = as_int64(labels.get(key)), as_int64(values[0])
        if held is None or limit is None:
            return False
        return held > limit if operator == "Gt" else held < limit


class LabelSelector:
    """Requirements that must all hold; without any it picks everything.

    An absent selector is not an empty one: it picks nothing, so ask `read` only for one that is there.
    """

    def __init__(self, requirements: Sequence[Requirement]) -> None:
        self.requirements = tuple(requirements)

    @classmethod
    def read(cls, selector: Mapping[str, Any]) -> LabelSelector:
        """Return a selector with `matchLabels` and `matchExpressions`; raises SelectorError."""
        requirements = [
            Requirement.read({"key": key, "operator": "In", "values": [value]})
            for key, value in sorted((selector.get("matchLabels") or {}).items())
        ]
        for entry in selector.get("matchExpressions") or ():
            if entry.get("operator") in ("Gt", "Lt"):
                raise SelectorError(f"{entry.get('operator')!r} is no operator of a label selector")
            requirements.append(Requirement.read(entry))
        return cls(requirements)

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Tell whether the labels fulfil every requirement."""
        return all(requirement.matches(labels) for requirement in self.requirements)


def as_int64(text: str | None) -> int | None:
    """Return the integer that a label spells, None when it spells none of 64 bits."""
    if text is None or _INTEGER.fullmatch(text) is None:
        return None
    number = int(text)
    return number if -(2**63) <= number < 2**63 else None


def _is_label_value(value: object) -> bool:
    return isinstance(value, str) and _VALUE.fullmatch(value) is not None
