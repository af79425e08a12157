"""Usage of a pod against a quota, and in a gang's minResources.

Source: kubernetes ``pkg/quota/v1/evaluator/core/pods.go`` at v1.35.3, volcano
``pkg/controllers/util/util.go``, ``pkg/controllers/job/job_controller_util.go`` at v1.15.1.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

from scheduler_core.model.pod import container_requests, is_sidecar
from scheduler_core.quantity import parse_quantity
from scheduler_core.resource import CPU, MEMORY
from scheduler_core.resource_names import is_scalar_name

Amounts = dict[str, Fraction]

EPHEMERAL_STORAGE = "ephemeral-storage"
_SUFFIXES = (("", 1), ("m", 10**3), ("u", 10**6), ("n", 10**9))


def pod_usage(spec: Mapping[str, Any], *, default_requests: bool) -> Amounts:
    """Return the quota usage of one pod, by the names that a ResourceQuota uses.

    Parameters
    ----------
    spec : mapping
        A pod's specification.
    default_requests : bool
        Whether missing requests of a container default to its limits, as in a pod that passed the API server,
        unlike a Job's template.

    """
    requests = effective(
        spec, lambda container: container_requests(container, default_requests=default_requests)
    )
    requests = {**requests, **_pod_level(spec, "requests")}
    overhead = amounts(spec.get("overhead"))
    add(requests, overhead)
    limits = effective(spec, lambda container: (container.get("resources") or {}).get("limits") or {})
    limits = {**limits, **_pod_level(spec, "limits")}
    add(limits, {name: amount for name, amount in overhead.items() if limits.get(name)})
    usage = {"count/pods": Fraction(1), "pods": Fraction(1)}
    for name, amount in requests.items():
        if name in (CPU, MEMORY, EPHEMERAL_STORAGE) or is_scalar_name(name):
            usage[name] = usage[f"requests.{name}"] = amount
    for name in (CPU, MEMORY, EPHEMERAL_STORAGE):
        if name in limits:
            usage[f"limits.{name}"] = limits[name]
    return usage


def effective(
    spec: Mapping[str, Any], of_container: Callable[[Mapping[str, Any]], Mapping[str, Any]]
) -> Amounts:
    """Return the larger of the containers' sum and the init containers' peak; both include sidecars."""
    total: Amounts = {}
    for container in spec.get("containers") or ():
        add(total, amounts(of_container(container)))
    sidecars: Amounts = {}
    peak: Amounts = {}
    for container in spec.get("initContainers") or ():
        request = amounts(of_container(container))
        if is_sidecar(container):
            add(total, request)
            add(sidecars, request)
            request = dict(sidecars)
        else:
            add(request, sidecars)
        raise_to(peak, request)
    raise_to(total, peak)
    return total


def _pod_level(spec: Mapping[str, Any], part: str) -> Amounts:
    """Return the pod-level amounts, which replace those of its containers."""
    whole = amounts((spec.get("resources") or {}).get(part))
    return {n: amount for n, amount in whole.items() if n in (CPU, MEMORY) or n.startswith("hugepages-")}


def amounts(quantities: Mapping[str, Any] | None) -> Amounts:
    """Return a resource list as exact numbers."""
    return {name: parse_quantity(value) for name, value in (quantities or {}).items()}


def add(total: Amounts, more: Mapping[str, Fraction], times: int = 1) -> None:
    """Add amounts in place, `times` times."""
    for name, amount in more.items():
        total[name] = total.get(name, Fraction(0)) + amount * times


def raise_to(total: Amounts, other: Mapping[str, Fraction]) -> None:
    """Raise amounts in place to those of `other` where they are larger."""
    for name, amount in other.items():
        total[name] = max(total.get(name, amount), amount)


def as_quantities(total: Mapping[str, Fraction]) -> dict[str, str]:
    """Return amounts as Kubernetes quantities.

    Examples
    --------
    >>> as_quantities({"cpu": Fraction(5, 2), "pods": Fraction(2)})
    {'cpu': '2500m', 'pods': '2'}

    """
    return {name: _quantity(amount) for name, amount in sorted(total.items())}


def _quantity(amount: Fraction) -> str:
    for suffix, parts in _SUFFIXES:
        scaled = amount * parts
        if scaled.denominator == 1:
            return f"{scaled.numerator}{suffix}"
    return f"{-(-amount.numerator * 10**9 // amount.denominator)}n"
