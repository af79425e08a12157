"""Tasks, from their pods: ``spec/resources.md`` 4 and 5, ``scoring.md`` 2."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tests.reference.resources import added, is_empty, pod_request, vector
from tests.reference.times import seconds

if TYPE_CHECKING:
    from tests.reference.jobs import Job

Object = Mapping[str, Any]

ALLOCATED = ("Allocated", "Binding", "Bound", "Running")
READY = (*ALLOCATED, "Succeeded")
VALID = (*READY, "Pipelined", "Pending")
ROLE, GROUP, PREEMPTABLE = "volcano.sh/task-spec", "scheduling.k8s.io/group-name", "volcano.sh/preemptable"
ANY_ADDRESS = "0.0.0.0"  # noqa: S104 - a pod's, as Kubernetes writes it
QUEUE_GATE = "scheduling.volcano.sh/queue-allocation-gate"
NON_ZERO = {"cpu": "100m", "memory": str(200 * 2**20)}
TRUE, FALSE = ("1", "t", "T", "TRUE", "true", "True"), ("0", "f", "F", "FALSE", "false", "False")


def group_of(pod: Object) -> str:
    """Return the namespace/name of a pod's PodGroup, empty without one."""
    meta = pod["metadata"]
    name = (meta.get("annotations") or {}).get(GROUP)
    return f"{meta.get('namespace') or 'default'}/{name}" if name else ""


class Task:
    """A pod."""

    def __init__(self, pod: Object) -> None:
        meta, spec = pod["metadata"], pod["spec"]
        self.pod, self.spec, self.pod_status = pod, spec, pod.get("status") or {}
        self.notes, self.labels = meta.get("annotations") or {}, meta.get("labels") or {}
        self.name, self.namespace = meta["name"], meta.get("namespace") or "default"
        self.key = f"{self.namespace}/{self.name}"
        self.uid = meta.get("uid") or f"{self.namespace}-{self.name}"
        self.creation = seconds(meta.get("creationTimestamp"))
        self.group = group_of(pod)
        self.role = self.notes.get(ROLE) or self.labels.get(ROLE) or ""
        priority = spec.get("priority")
        self.pod_priority = priority or 0
        self.priority = _int32(
            self.notes.get("volcano.sh/task-priority"), 1 if priority is None else priority
        )
        self.never_preempts = spec.get("preemptionPolicy") == "Never"
        self.preemptable = self.notes.get(PREEMPTABLE, self.labels.get(PREEMPTABLE, "true")) in TRUE
        gates = [gate["name"] for gate in spec.get("schedulingGates") or ()]
        self.gated, self.deducted = bool(gates), bool(gates) and gates != [QUEUE_GATE]
        self.only_queue_gated = gates == [QUEUE_GATE]
        self.leaves = bool(meta.get("deletionTimestamp"))
        self._read_amounts(spec)
        self.ports = _ports_of(spec)
        affinity = spec.get("affinity") or {}
        self.node_affinity = affinity.get("nodeAffinity") or {}
        self.affinity, self.anti_affinity = affinity.get("podAffinity"), affinity.get("podAntiAffinity")
        self.spread = spec.get("topologySpreadConstraints") or []
        parts = self.name.split("-")
        self.index = _integer(parts[-1]) if len(parts) >= 3 else None
        self.node: str = spec.get("nodeName") or ""
        self.nominated: str = self.pod_status.get("nominatedNodeName") or ""
        self.status = status_of(pod, self.node)
        self.job: Job | None = None
        # Set by the session: whether predicates saw it, their results, and which filters are skipped.
        self.looked_at = False
        self.found: dict[str, Any] = {}
        self.skipped: set[str] = set()
        self.evicts = False  # whether it is pipelined where others are evicted
        self.last: tuple[str, str, bool] | None = None  # the last transaction: node, status, evicts

    def _read_amounts(self, spec: Object) -> None:
        pod_level = (spec.get("resources") or {}).get("requests") or {}
        self.request = added(vector(pod_request(spec, {}, pod_level)), {"pods": 1.0})
        self.best_effort = is_empty(self.request)
        # The amounts used by Kubernetes' scores: while the pod is pending, and once it is on a node.
        self.whole, self.near = vector(pod_request(spec, {}, {})), vector(pod_request(spec, NON_ZERO, {}))
        known = pod_request(spec, {}, pod_level)
        missing = {name: amount for name, amount in NON_ZERO.items() if not pod_level or name not in known}
        self.whole_there = vector(known)
        self.near_there = vector(pod_request(spec, missing, pod_level))

    @property
    def is_on_a_node(self) -> bool:
        """Return whether the pod counts on its node."""
        return bool(self.node) and self.status not in ("Succeeded", "Failed")

    def required(self, terms: Object | None) -> list[Object]:
        """Return the required terms of an affinity."""
        return (terms or {}).get("requiredDuringSchedulingIgnoredDuringExecution") or []

    def preferred(self, terms: Object | None) -> list[Object]:
        """Return the weighted terms of an affinity."""
        return (terms or {}).get("preferredDuringSchedulingIgnoredDuringExecution") or []


def _ports_of(spec: Object) -> list[tuple[str, str, int]]:
    sidecars = [one for one in spec.get("initContainers") or () if one.get("restartPolicy") == "Always"]
    return [
        (port.get("hostIP") or ANY_ADDRESS, port.get("protocol") or "TCP", port["hostPort"])
        for container in [*(spec.get("containers") or ()), *sidecars]
        for port in container.get("ports") or ()
        if port.get("hostPort")
    ]


def _int32(text: Any, otherwise: int) -> int:
    number = _integer(text)
    return number if number is not None and -(2**31) <= number < 2**31 else otherwise


def _integer(text: Any) -> int | None:
    try:
        return int(text) if str(text).lstrip("+-").isdigit() else None
    except ValueError:
        return None


def status_of(pod: Object, node: str) -> str:
    """Return the status of a task."""
    phase = (pod.get("status") or {}).get("phase") or ("Running" if node else "Pending")
    if phase in ("Running", "Pending") and pod["metadata"].get("deletionTimestamp"):
        return "Releasing"
    if phase == "Pending":
        return "Bound" if node else "Pending"
    return phase if phase in ("Running", "Succeeded", "Failed") else "Unknown"
