"""Kubernetes objects as Go encodes them: no kind, fixed empty parts, canonical quantities.

Source: ``k8s.io/api/core/v1/types.go``, ``apimachinery/pkg/api/resource/quantity.go`` at 1.35.3.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

from scheduler_core.quantity import parse_quantity

Json = dict[str, Any]

_AMOUNTS = frozenset(
    {
        "requests",
        "limits",
        "overhead",
        "allocatable",
        "capacity",
        "minResources",
        "capability",
        "deserved",
        "resource",
        "allocated",
        "hard",
        "used",
    }
)
_NODE_INFO = (
    "machineID",
    "systemUUID",
    "bootID",
    "kernelVersion",
    "osImage",
    "containerRuntimeVersion",
    "kubeletVersion",
    "kubeProxyVersion",
    "operatingSystem",
    "architecture",
)
_BINARY = ("", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei")
_DECIMAL = ("n", "u", "m", "", "k", "M", "G", "T", "P", "E")


def pod_json(pod: Mapping[str, Any], node_name: str | None = None) -> Json:
    """Return a pod; `node_name` is the node that the session allocated it to."""
    written = _typed(pod)
    spec = written["spec"] = written.get("spec") or {}
    for part in ("containers", "initContainers"):
        if part in spec:
            spec[part] = [{"name": "", "resources": {}, **container} for container in spec[part]]
    if node_name:
        spec["nodeName"] = node_name
    written["status"] = written.get("status") or {}
    return written


def node_json(node: Mapping[str, Any]) -> Json:
    """Return a node."""
    written = _typed(node)
    written["spec"] = written.get("spec") or {}
    status = written.get("status") or {}
    written["status"] = {
        **status,
        "daemonEndpoints": status.get("daemonEndpoints") or {"kubeletEndpoint": {"Port": 0}},
        "nodeInfo": {**dict.fromkeys(_NODE_INFO, ""), **(status.get("nodeInfo") or {})},
    }
    return written


def queue_json(queue: Mapping[str, Any]) -> Json:
    """Return a queue; guarantee and reservation are always present."""
    written = _typed(queue)
    written["spec"] = {
        **(written.get("spec") or {}),
        "guarantee": (queue.get("spec") or {}).get("guarantee") or {},
    }
    written["status"] = {"reservation": {}, **(written.get("status") or {})}
    return written


def podgroup_json(podgroup: Mapping[str, Any], phase: str) -> Json:
    """Return a PodGroup in the scheduler's internal form, with its current phase."""
    written = _typed(podgroup)
    status = {**(written.get("status") or {}), "phase": phase}
    return {
        "metadata": written.get("metadata") or {},
        "spec": written.get("spec") or {},
        "status": {name: value for name, value in status.items() if value},
        "Version": "v1beta1",
    }


def namespaces_json(quotas: Iterable[Mapping[str, Any]]) -> Json:
    """Return the status of every quota, by namespace and name."""
    namespaces: dict[str, Json] = {}
    for quota in quotas:
        namespace = quota["metadata"]["namespace"]
        status = quota.get("status") or {}
        amounts = {
            part: {name: canonical(amount) for name, amount in sorted(status[part].items())}
            for part in ("hard", "used")
            if status.get(part)
        }
        namespaces.setdefault(namespace, {"Name": namespace, "QuotaStatus": {}})
        namespaces[namespace]["QuotaStatus"][quota["metadata"]["name"]] = amounts
    return {name: namespaces[name] for name in sorted(namespaces)}


def _typed(thing: Mapping[str, Any]) -> Json:
    """Return an object without kind, version, nulls and empty maps, its quantities in canonical form."""
    return {
        name: _value(name, value)
        for name, value in thing.items()
        if name not in ("kind", "apiVersion") and value is not None
    }


def _value(name: str, value: Any) -> Any:
    if (
        name in _AMOUNTS
        and isinstance(value, Mapping)
        and all(_is_amount(amount) for amount in value.values())
    ):
        return {key: canonical(amount) for key, amount in sorted(value.items())}
    if isinstance(value, Mapping):
        if name in ("labels", "annotations"):
            return dict(sorted(value.items()))
        return {
            key: _value(key, entry)
            for key, entry in value.items()
            if entry is not None and not _is_left_out(key, entry)
        }
    if isinstance(value, list):
        return [_value("", entry) for entry in value]
    return value


def _is_amount(value: Any) -> bool:
    return isinstance(value, (str, int, float)) and not isinstance(value, bool)


def _is_left_out(name: str, value: Any) -> bool:
    return name in ("labels", "annotations", "nodeSelector") and not value


def canonical(value: str | float) -> str:
    """Return a quantity in its canonical form: no fraction, the largest suffix that keeps it whole.

    Examples
    --------
    >>> canonical("0.5"), canonical("1.5Gi"), canonical("2000m"), canonical(2)
    ('500m', '1536Mi', '2', '2')

    """
    amount = parse_quantity(value)
    if isinstance(value, str) and value.endswith("i") and amount.denominator == 1 and abs(amount) >= 1024:
        return _with_suffix(amount, 1024, _BINARY)
    scaled = amount * 10**9
    return _with_suffix(Fraction(-(-scaled.numerator // scaled.denominator)), 1000, _DECIMAL)


def _with_suffix(amount: Fraction, base: int, suffixes: tuple[str, ...]) -> str:
    whole, position = amount.numerator, 0
    if whole == 0:
        return "0"
    while whole % base == 0 and position < len(suffixes) - 1:
        whole //= base
        position += 1
    return f"{whole}{suffixes[position]}"
