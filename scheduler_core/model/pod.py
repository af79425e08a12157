"""Requests of pods, as shapes shared by all pods whose specifications are the same to the scheduler.

Source: volcano ``pkg/scheduler/api/pod_info.go``, ``api/job_info.go`` at v1.15.1.
"""

from __future__ import annotations

import marshal
from collections.abc import Mapping
from copy import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scheduler_core.model.axis import ResourceAxis
from scheduler_core.quantity import milli_value, whole_value
from scheduler_core.resource import CPU, MEMORY, PODS, Resource
from scheduler_core.resource_list import read_resource_list

Pairs = tuple[tuple[int, float], ...]

QUEUE_ALLOCATION_GATE = "scheduling.volcano.sh/queue-allocation-gate"


class PodShape:
    """All that the scheduler reads from a pod's specification, shared by every pod with the same one.

    Attributes
    ----------
    number : int
        Position in order of first occurrence; equal shapes have equal numbers.
    spec : mapping
        The specification of the first pod seen with this shape.
    request : Resource
        The request of a pod of this shape, including init containers, sidecars and overhead; `pods` is 1.
        Never change it.
    row : (R,) float64
        The request on the snapshot's resource axis.
    amounts : tuple of (int, float)
        The same without zeros, as pairs of position and amount.
    demand : (R,) float64
        The same row with minus infinity for resources that the request does not name, so that nothing is
        required of them. Cpu and memory are always named, a scalar even if it is 0.
    demands : tuple of (int, float)
        The named resources, as pairs of position and amount.
    best_effort : bool
        Whether nothing but `pods` is requested.
    gated : bool
        Whether the pod has a scheduling gate.
    gated_by_others : bool
        Whether it has a gate other than Volcano's queue-allocation gate.

    """

    __slots__ = (
        "amounts",
        "best_effort",
        "demand",
        "demands",
        "facts",
        "gated",
        "gated_by_others",
        "number",
        "request",
        "row",
        "spec",
    )

    def __init__(
        self, number: int, spec: Mapping[str, Any], *, default_requests: bool, pod_level: bool = True
    ) -> None:
        self.number = number
        self.spec = spec
        self.request = pod_request(spec, default_requests=default_requests, pod_level=pod_level)
        self.row: NDArray[np.float64] = np.zeros(0)
        self.demand: NDArray[np.float64] = np.zeros(0)
        self.amounts: Pairs = ()
        self.demands: Pairs = ()
        self.best_effort = self.request.is_empty()
        gates = [gate.get("name") for gate in spec.get("schedulingGates") or ()]
        self.gated = bool(gates)
        self.gated_by_others = bool(gates) and gates != [QUEUE_ALLOCATION_GATE]
        self.facts: dict[str, Any] = {}

    def on_axis(self, axis: ResourceAxis, number: int) -> PodShape:
        """Return the same shape with its request as a row of `axis`, and a number of its own."""
        placed = copy(self)
        placed.number = number
        amounts, named = axis.amounts(self.request), axis.named(self.request)
        placed.row = np.array(amounts, dtype=np.float64)
        placed.demand = np.full(len(axis), -np.inf)
        placed.demand[named] = placed.row[named]
        placed.amounts = tuple([(position, amount) for position, amount in enumerate(amounts) if amount])
        placed.demands = tuple([(position, amounts[position]) for position in named])
        return placed

    def fact(self, name: str, compute: Any) -> Any:
        """Return `compute(spec)`, computed once per shape and cached under `name`."""
        if name not in self.facts:
            self.facts[name] = compute(self.spec)
        return self.facts[name]


class ShapeTable:
    """All shapes that have occurred, so that each is read once.

    Parameters
    ----------
    default_requests : bool
        Whether missing requests of a container default to its limits.
    pod_level : bool
        Whether pod-level requests count.
    before : ShapeTable, optional
        A table whose shapes are copied at the start; it is not changed.

    """

    def __init__(
        self, *, default_requests: bool, pod_level: bool = True, before: ShapeTable | None = None
    ) -> None:
        self.default_requests, self.pod_level = default_requests, pod_level
        self.shapes: dict[Any, PodShape] = {} if before is None else dict(before.shapes)

    def shape_of(self, spec: Mapping[str, Any]) -> PodShape:
        """Return the shape of a pod's specification."""
        key = _shape_key(spec)
        shape = self.shapes.get(key)
        if shape is None:
            shape = self.shapes[key] = PodShape(
                len(self.shapes), spec, default_requests=self.default_requests, pod_level=self.pod_level
            )
        return shape


_SPEC_PARTS = (
    "nodeSelector",
    "affinity",
    "tolerations",
    "topologySpreadConstraints",
    "overhead",
    "resources",
    "schedulingGates",
    "hostNetwork",
)


def _shape_key(spec: Mapping[str, Any]) -> Any:
    parts = [spec.get(part) for part in _SPEC_PARTS]
    for name in ("containers", "initContainers"):
        parts.append([_container_key(container) for container in spec.get(name) or ()])
    return marshal.dumps(parts, 2)


def _container_key(container: Mapping[str, Any]) -> list[Any]:
    ports = container.get("ports")
    return [
        container.get("image"),
        container.get("resources"),
        container.get("restartPolicy"),
        [port for port in ports if port.get("hostPort")] if ports else None,
    ]


def container_requests(container: Mapping[str, Any], *, default_requests: bool) -> Mapping[str, Any]:
    """Return a container's requests.

    With `default_requests`, missing requests default to its limits, as in the API server.
    """
    resources = container.get("resources") or {}
    requests = resources.get("requests") or {}
    limits = resources.get("limits")
    return {**limits, **requests} if default_requests and limits else requests


def is_sidecar(container: Mapping[str, Any]) -> bool:
    """Return whether an init container keeps running alongside the regular containers."""
    return container.get("restartPolicy") == "Always"


def pod_request(spec: Mapping[str, Any], *, default_requests: bool, pod_level: bool = True) -> Resource:
    """Return a pod's request: the larger of its containers and init containers, plus `pods` 1 and overhead.

    Parameters
    ----------
    spec : mapping
        The pod's specification.
    default_requests : bool
        Whether missing requests of a container default to its limits.
    pod_level : bool
        Whether pod-level requests replace those of its containers, and overhead is added to init containers.

    """
    total, overhead = Resource(), read_resource_list(spec.get("overhead"))
    for container in spec.get("containers") or ():
        total.add(read_resource_list(container_requests(container, default_requests=default_requests)))
    sidecars, peak = Resource(), Resource()
    for container in spec.get("initContainers") or ():
        request = read_resource_list(container_requests(container, default_requests=default_requests))
        if is_sidecar(container):
            total.add(request)
            sidecars.add(request)
            request = sidecars.clone()
        else:
            request.add(sidecars)
        peak.set_max_resource(request)
    if not pod_level:
        total.add(overhead)
    total.set_max_resource(peak)
    total.add_scalar(PODS, 1.0)
    if pod_level:
        _replace_by_pod_level(total, (spec.get("resources") or {}).get("requests") or {})
        total.add(overhead)
    return total


def _replace_by_pod_level(total: Resource, requests: Mapping[str, Any]) -> None:
    for name, quantity in requests.items():
        if name == MEMORY:
            total.set(name, whole_value(quantity))
        elif name == CPU or name.startswith("hugepages-"):
            total.set(name, milli_value(quantity))
