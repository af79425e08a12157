"""What pods request, as Kubernetes quantities."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from decimal import ROUND_CEILING, Decimal
from math import ceil
from typing import Any

Object = Mapping[str, Any]
Requests = Mapping[str, str]

_QUANTITY = re.compile(r"([-+]?[0-9.]+(?:[eE][-+]?[0-9]+)?)([A-Za-z]*)")
_DECIMAL = {name: Decimal(1000) ** power for power, name in enumerate(("n", "u", "m", "", "k", *"MGTPE"), -3)}
_BINARY = {f"{name}i": Decimal(1024) ** power for power, name in enumerate("KMGTPE", 1)}
_UNITS = _DECIMAL | _BINARY
_FINEST, _DIGITS = Decimal("1e-9"), 18
"""The smallest part of a quantity; larger ones are precise to fewer decimals than it has."""


def request_of(spec: Object) -> dict[str, str]:
    """Return the request of a pod's specification, by resource.

    The larger of what its containers request together, sidecars included, and what any of its init containers
    requests beside the sidecars before it; overhead is added, and requests of the pod as a whole replace
    those of its containers. Missing requests default to limits.
    """
    phases = list(_phases(spec))
    found = {}
    for name in dict.fromkeys(name for phase in phases for requests in phase for name in requests):
        sums = [summed([requests[name] for requests in phase if name in requests]) for phase in phases]
        found[name] = sums[0] if len(sums) == 1 else max(sums, key=lambda text: _value(text) or Decimal(0))
    found |= _requests(spec.get("resources"))
    for name, amount in (spec.get("overhead") or {}).items():
        found[name] = summed([found[name], str(amount)]) if name in found else str(amount)
    return found


def _phases(spec: Object) -> Iterator[list[Requests]]:
    """Yield the requests of containers that run together: first the main ones, then each init container."""
    sidecars: list[Requests] = []
    phases = []
    for container in spec.get("initContainers") or ():
        requests = _requests(container.get("resources"))
        if container.get("restartPolicy") == "Always":
            sidecars.append(requests)
        else:
            phases.append([*sidecars, requests])
    containers = [_requests(container.get("resources")) for container in spec.get("containers") or ()]
    yield [*containers, *sidecars]
    yield from phases


def _requests(resources: Object | None) -> dict[str, str]:
    parts = resources or {}
    stated = {**(parts.get("limits") or {}), **(parts.get("requests") or {})}
    return {name: str(amount) for name, amount in stated.items()}


def summed(quantities: Sequence[str]) -> str:
    """Return the sum of quantities; a single one as written, and one that cannot be read instead of the sum.

    >>> summed(["500m"]), summed(["500m", "1"]), summed(["1Gi", "1Mi"]), summed(["1", "x"]), summed([])
    ('500m', '1.5', '1074790400', 'x', '0')
    """
    if len(quantities) == 1:
        return quantities[0]
    total = Decimal(0)
    for quantity in quantities:
        value = _value(quantity)
        if value is None:
            return quantity
        total += value
    return f"{total.normalize():f}"


def multiplied(quantity: str, count: int, parts: int = 1) -> str:
    """Return so many of the equal parts of a Kubernetes quantity, rounded up to nine decimals.

    Other texts are returned unchanged.

    >>> multiplied("500m", 3), multiplied("1.5Gi", 2), multiplied("12", 2, 3), multiplied("4", 1, 3)
    ('1500m', '3.0Gi', '8', '1.333333334')
    """
    found = _QUANTITY.fullmatch(quantity.strip())
    if found is None:
        return quantity
    product = Decimal(found[1]) * count / parts
    if product.adjusted() < _DIGITS and product % _FINEST:
        product = product.quantize(_FINEST, ROUND_CEILING)
    return f"{product:f}{found[2]}"


def whole(quantity: str) -> str:
    """Return a Kubernetes quantity as a whole number, rounded up; other texts are returned unchanged.

    >>> whole("8"), whole("1k"), whole("2.0"), whole("500m"), whole("some")
    ('8', '1000', '2', '1', 'some')
    """
    value = _value(quantity)
    return quantity if value is None else str(ceil(value))


def _value(quantity: str) -> Decimal | None:
    parts = _QUANTITY.fullmatch(quantity.strip())
    if parts is None or parts[2] not in _UNITS:
        return None
    return Decimal(parts[1]) * _UNITS[parts[2]]
