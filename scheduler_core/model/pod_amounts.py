"""Amounts of a pod in the whole numbers of the Kubernetes scorers.

Amounts are summed in billionths over the containers and rounded up once per pod: cpu to milli-cores, the rest
to whole units. By contrast, `scheduler_core.model.pod` rounds per container and uses floats.

Source: component-helpers ``resource/helpers.go``, kube-scheduler ``framework/types.go`` at 1.35.3.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from scheduler_core.model.pod import container_requests, is_sidecar
from scheduler_core.quantity import parse_quantity
from scheduler_core.resource import CPU, MEMORY

GPU = "nvidia.com/gpu"
NANO = 10**9
DEFAULTED: Mapping[str, int] = {CPU: 100 * NANO // 1000, MEMORY: 200 * 2**20 * NANO}

# Far more than any cluster has, and small enough for sums over a node to fit 64 bits.
_LARGEST = 2**60

Amounts = dict[str, int]


class WholeAmounts(NamedTuple):
    """A pod's amounts for node scores: milli-cores, bytes, GPUs.

    Attributes
    ----------
    requested : tuple of 3 int
        The requests of its containers.
    assumed : tuple of 2 int
        The same for cpu and memory, with a small default for containers without a request.

    """

    requested: tuple[int, int, int]
    assumed: tuple[int, int]


def incoming_amounts(spec: Mapping[str, Any], *, default_requests: bool, pod_level: bool) -> WholeAmounts:
    """Return the amounts of a pod that is being scored.

    With `pod_level`, pod-level requests replace those of its containers.
    """
    overhead, of_pod = _amounts(spec.get("overhead")), _of_pod(spec) if pod_level else {}
    plain = _of_containers(spec, {}, default_requests=default_requests)
    assumed = _of_containers(spec, DEFAULTED, default_requests=default_requests)
    return _whole(_plus({**plain, **of_pod}, overhead), _plus({**assumed, **of_pod}, overhead))


def node_amounts(spec: Mapping[str, Any], *, default_requests: bool) -> WholeAmounts:
    """Return the amounts of a pod on a node; pod-level requests replace those of its containers."""
    overhead, of_pod = _amounts(spec.get("overhead")), _of_pod(spec)
    plain = _plus({**_of_containers(spec, {}, default_requests=default_requests), **of_pod}, overhead)
    missing = {name: amount for name, amount in DEFAULTED.items() if not (of_pod and name in plain)}
    containers = _of_containers(spec, missing, default_requests=default_requests)
    return _whole(plain, _plus({**containers, **of_pod}, overhead))


def _of_pod(spec: Mapping[str, Any]) -> Amounts:
    """Return the pod-level requests."""
    requests = _amounts((spec.get("resources") or {}).get("requests"))
    return {
        name: amount
        for name, amount in requests.items()
        if name in (CPU, MEMORY) or name.startswith("hugepages-")
    }


def _of_containers(spec: Mapping[str, Any], missing: Mapping[str, int], *, default_requests: bool) -> Amounts:
    """Return the larger of the containers' sum and the init containers' peak.

    `missing` contains the defaults for resources that a container does not request.
    """

    def request(container: Mapping[str, Any]) -> Amounts:
        return {**missing, **_amounts(container_requests(container, default_requests=default_requests))}

    total: Amounts = {}
    for container in spec.get("containers") or ():
        total = _plus(total, request(container))
    sidecars: Amounts = {}
    peak: Amounts = {}
    for container in spec.get("initContainers") or ():
        present = _plus(sidecars, request(container))
        if is_sidecar(container):
            total = _plus(total, request(container))
            sidecars = present
        peak = _maximum(peak, present)
    return _maximum(total, peak)


def _amounts(requests: Mapping[str, Any] | None) -> Amounts:
    return {name: _billionths(str(quantity)) for name, quantity in (requests or {}).items()}


@lru_cache(maxsize=65536)
def _billionths(quantity: str) -> int:
    amount = parse_quantity(quantity) * NANO
    return -(-amount.numerator // amount.denominator)


def _plus(left: Amounts, right: Amounts) -> Amounts:
    if not right:
        return left
    return {name: left.get(name, 0) + right.get(name, 0) for name in {**left, **right}}


def _maximum(left: Amounts, right: Amounts) -> Amounts:
    return {**right, **{name: max(amount, right.get(name, amount)) for name, amount in left.items()}}


def _whole(plain: Amounts, assumed: Amounts) -> WholeAmounts:
    return WholeAmounts(
        (_rounded(plain, CPU), _rounded(plain, MEMORY), _rounded(plain, GPU)),
        (_rounded(assumed, CPU), _rounded(assumed, MEMORY)),
    )


def _rounded(amounts: Amounts, name: str) -> int:
    unit = NANO // 1000 if name == CPU else NANO
    return max(min(-(-amounts.get(name, 0) // unit), _LARGEST), -_LARGEST)
