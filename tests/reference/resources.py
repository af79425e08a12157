"""Parsing, adding and comparing amounts, by ``spec/resources.md`` 1 to 4."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

Vector = dict[str, float]

EPSILON = 0.1
BASIC = ("cpu", "memory")
SUFFIXES = {"": 1, "k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12, "P": 10**15, "E": 10**18}
SUFFIXES |= {f"{name}i": 1024**power for power, name in enumerate("KMGTPE", 1)}
SUFFIXES |= {"m": Fraction(1, 10**3), "u": Fraction(1, 10**6), "n": Fraction(1, 10**9)}
QUANTITY = re.compile(r"([+-]?[0-9.]+)(?:[eE]([+-]?[0-9]+))?([A-Za-z]*)")


LARGEST = Fraction(2**63 - 1)  # of a Kubernetes quantity


class UnreadableError(Exception):
    """A quantity that Kubernetes cannot parse."""


class Panic(Exception):
    """The real scheduler would crash here."""


def quantity(text: Any) -> Fraction:
    """Return the value of a Kubernetes quantity."""
    if isinstance(text, (int, Fraction)):
        return Fraction(text)
    found = QUANTITY.fullmatch(str(text))
    if found is None or found[3] not in SUFFIXES or (found[2] and found[3]):
        raise UnreadableError(str(text))
    number, exponent, suffix = found.groups()
    amount = Fraction(number) * Fraction(10) ** int(exponent or 0) * SUFFIXES[suffix]
    return max(-LARGEST, min(amount, LARGEST))


def vector(amounts: Mapping[str, Any] | None) -> Vector:
    """Return a resource list in the scheduler's units; unknown names are left out."""
    read = {"cpu": 0.0, "memory": 0.0}
    for name, text in (amounts or {}).items():
        if name in ("memory", "pods"):
            read[name] = read.get(name, 0.0) + math.ceil(quantity(text))
        elif name in ("cpu", "ephemeral-storage") or is_scalar(name):
            read[name] = read.get(name, 0.0) + math.ceil(quantity(text) * 1000)
    return read


def is_scalar(name: str) -> bool:
    """Return whether a name is a scalar resource."""
    if name.startswith("count/"):
        return False
    extended = "/" in name and "kubernetes.io/" not in name and not name.startswith("requests.")
    return extended or "kubernetes.io/" in name or name.startswith(("hugepages-", "attachable-volumes-"))


def added(left: Mapping[str, float], right: Mapping[str, float]) -> Vector:
    """Return a sum."""
    return {name: left.get(name, 0.0) + right.get(name, 0.0) for name in {**left, **right}}


def total(vectors: Iterable[Mapping[str, float]]) -> Vector:
    """Return the sum of many."""
    result = vector(None)
    for one in vectors:
        result = added(result, one)
    return result


def minus(left: Mapping[str, float], right: Mapping[str, float]) -> Vector:
    """Return a difference that may be negative; it has no scalars if the left side has none."""
    names = {**left, **right} if {*left} - {*BASIC} else BASIC
    return {name: left.get(name, 0.0) - right.get(name, 0.0) for name in names}


def sub(left: Mapping[str, float], right: Mapping[str, float]) -> Vector:
    """Return a difference that must not be negative."""
    if not fits(right, left):
        raise Panic(f"{right} is taken from {left}")
    return minus(left, right)


def fits(left: Mapping[str, float], right: Mapping[str, float]) -> bool:
    """Return whether every dimension of `left` is at most that of `right`, absent: 0."""
    return all(
        amount < right.get(name, 0.0) or abs(amount - right.get(name, 0.0)) < EPSILON
        for name, amount in left.items()
    )


def within(left: Mapping[str, float], right: Mapping[str, float], request: Mapping[str, float]) -> bool:
    """Return whether no requested dimension but `pods` exceeds `right`, strictly."""
    names = [name for name, amount in request.items() if amount > 0 and name != "pods"]
    return all(left.get(name, 0.0) <= right.get(name, 0.0) for name in names)


def exceeded(left: Mapping[str, float], right: Mapping[str, float]) -> Vector:
    """Return the excess of `left` over `right`; scalars without excess are left out."""
    parts = {name: left.get(name, 0.0) - right.get(name, 0.0) for name in {**left, **right}}
    return vector(None) | {name: part for name, part in parts.items() if part > 0}


def at_most(left: Mapping[str, float], right: Mapping[str, float], absent: float) -> Vector:
    """Return the minimum of each dimension of `left`; `absent` is the value of scalars that `right` lacks."""
    return {name: min(amount, right.get(name, absent)) for name, amount in left.items()}


def at_least(left: Mapping[str, float], right: Mapping[str, float]) -> Vector:
    """Return the maximum of each dimension."""
    return {name: max(left.get(name, 0.0), right.get(name, 0.0)) for name in {**left, **right}}


def is_empty(amounts: Mapping[str, float]) -> bool:
    """Return whether all amounts but pods are zero."""
    return all(amount < EPSILON for name, amount in amounts.items() if name != "pods")


def names_of(amounts: Mapping[str, float]) -> list[str]:
    """Return cpu, memory, then scalars by name; those of less than 0.1 are left out."""
    ordered = [*BASIC, *sorted({*amounts} - {*BASIC})]
    return [name for name in ordered if amounts.get(name, 0.0) >= EPSILON]


def requests_of(container: Mapping[str, Any], defaults: Mapping[str, Any]) -> dict[str, Fraction]:
    """Return a container's requests, or defaults."""
    actual = (container.get("resources") or {}).get("requests") or {}
    return {name: quantity(text) for name, text in {**defaults, **actual}.items()}


def pod_request(
    spec: Mapping[str, Any], defaults: Mapping[str, Any], pod_level: Mapping[str, Any]
) -> dict[str, Fraction]:
    """Return a pod's requests: its own, or the maximum of containers and init containers; plus overhead."""
    result = _sum(requests_of(container, defaults) for container in spec.get("containers") or ())
    sidecars: dict[str, Fraction] = {}
    most: dict[str, Fraction] = {}
    for container in spec.get("initContainers") or ():
        request = requests_of(container, defaults)
        if container.get("restartPolicy") == "Always":
            result, sidecars = _sum([result, request]), _sum([sidecars, request])
            request = sidecars
        else:
            request = _sum([request, sidecars])
        most = {name: max(most.get(name, 0), request.get(name, 0)) for name in {**most, **request}}
    result = {name: max(result.get(name, 0), most.get(name, 0)) for name in {**result, **most}}
    result |= {
        name: quantity(text)
        for name, text in pod_level.items()
        if name in BASIC or name.startswith("hugepages-")
    }
    return _sum([result, {name: quantity(text) for name, text in (spec.get("overhead") or {}).items()}])


def _sum(parts: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for part in parts:
        for name, amount in part.items():
            result[name] = result.get(name, 0) + amount
    return result
