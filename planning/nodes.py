"""The nodes of a scenario, their pools, and changes of nodes."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from manifests.pools import HOSTNAME
from manifests.pools import node_like as node_like
from manifests.pools import numbered_names as numbered_names
from planning.amounts import read_amounts
from planning.contents import Objects
from planning.queues import merge_patch
from planning.rows import Amounts, Problem, Quantities
from planning.states import Json
from planning.units import scale_of

INSTANCE_TYPE = "node.kubernetes.io/instance-type"
FINISHED = ("Succeeded", "Failed")
"""Phases of pods that need no node any more."""
EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
MOST_NODES = 20_000
_NAME = re.compile(r"[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?", re.ASCII)


@dataclass(frozen=True)
class NodeRow:
    """One node: its capacity, its taints, the number of its pods, and its origin."""

    name: str
    pool: str
    allocatable: Quantities
    amounts: Amounts
    unschedulable: bool
    taints: Sequence[str]
    labels: Mapping[str, str]
    pods: int
    origin: str


@dataclass(frozen=True)
class PoolRow:
    """Nodes of one shape: their instance type if they have one, and the capacity of each."""

    pool: str
    count: int
    cordoned: int
    amounts: Amounts
    first: str

    @property
    def name(self) -> str:
        """Return the name for people."""
        return pool_label(self.pool)

    @property
    def description(self) -> str:
        """Return the name, and the capacity of each node."""
        return pool_description(self.pool)


def node_rows(objects: Objects) -> list[NodeRow]:
    """Return the nodes of a scenario, in the order of the frozen input."""
    held: dict[str, int] = {}
    for pod in objects.of_kind("pods").values():
        node = (pod.get("spec") or {}).get("nodeName")
        if node and (pod.get("status") or {}).get("phase") not in FINISHED:
            held[node] = held.get(node, 0) + 1
    return [
        _row(name, node, held.get(name, 0), objects.origin("nodes", name))
        for name, node in objects.of_kind("nodes").items()
    ]


def pool_rows(nodes: Iterable[NodeRow]) -> list[PoolRow]:
    """Return the pools of these nodes, largest first."""
    pools: dict[str, list[NodeRow]] = {}
    for node in nodes:
        pools.setdefault(node.pool, []).append(node)
    rows = [
        PoolRow(pool, len(of), sum(node.unschedulable for node in of), of[0].amounts, of[0].name)
        for pool, of in pools.items()
    ]
    return sorted(rows, key=lambda row: (-row.count, row.pool))


def node_of(name: str, capacity: Quantities, labels: Mapping[str, str]) -> Json:
    """Return a new node of a given capacity."""
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {HOSTNAME: name, **labels}},
        "spec": {},
        "status": {"capacity": dict(capacity), "allocatable": {"pods": "110", **capacity}},
    }


def node_patched(node: Mapping[str, Any], patch: Mapping[str, Any]) -> Json:
    """Return a node changed by a merge patch."""
    patched: Json = merge_patch(node, patch)
    return patched


def pool_name(node: Mapping[str, Any]) -> str:
    """Return the name of a node's pool: its instance type, else its capacity."""
    return pool_of(node).partition(": ")[0]


def name_problems(kind: str, name: Any) -> list[Problem]:
    """Return why a name is no valid object name."""
    if isinstance(name, str) and _NAME.fullmatch(name):
        return []
    message = f"{name!r} is not a valid Kubernetes name." if name else "The name is missing."
    fix = "Use lower-case letters, digits, '-' and '.'; begin and end with a letter or digit."
    return [Problem("name.illegal", "error", message, path=f"{kind}.metadata.name", actual=name, fix=fix)]


def taint_patch(node: Mapping[str, Any], taint: Mapping[str, str] | None, key: str) -> Json:
    """Return the patch that sets the taint of this key and effect; None removes all taints of the key."""
    present = (node.get("spec") or {}).get("taints") or []
    if taint is None:
        kept = [held for held in present if held.get("key") != key]
    else:
        same = (key, taint["effect"])
        kept = [held for held in present if (held.get("key"), held.get("effect")) != same] + [dict(taint)]
    return {"spec": {"taints": kept or None}}


def pool_of(node: Mapping[str, Any]) -> str:
    """Return the name of a node's pool: nodes of one type with the same capacity."""
    labels, allocatable = (node.get("metadata") or {}).get("labels") or {}, _allocatable(node)
    shape = ", ".join(f"{resource} {quantity}" for resource, quantity in sorted(allocatable.items()))
    return f"{labels[INSTANCE_TYPE]}: {shape}" if labels.get(INSTANCE_TYPE) else shape


def pool_label(pool: str) -> str:
    """Return the name of a pool for people: the instance type, else the capacity of its nodes.

    >>> pool_label("m5.large: cpu 2, memory 8Gi"), pool_label("cpu 32000m, memory 262144Mi, pods 110")
    ('m5.large', '32 cores, 256 GiB, 110 pods')
    """
    instance_type, has_type, _ = pool.partition(": ")
    return instance_type if has_type else _shape_text(instance_type)


def pool_description(pool: str) -> str:
    """Return the name of a pool, and the capacity of each node, rounded as on every page.

    >>> pool_description("m5.large: cpu 2, memory 8Gi")
    'm5.large: 2 cores, 8 GiB'
    """
    instance_type, has_type, shape = pool.partition(": ")
    return f"{instance_type}: {_shape_text(shape)}" if has_type else _shape_text(instance_type)


def _shape_text(shape: str) -> str:
    offered = dict(part.rsplit(" ", 1) for part in shape.split(", ") if " " in part)
    amounts = read_amounts(offered)
    texts = (scale_of(resource, amount).say(amount) for resource, amount in amounts.items() if amount)
    return ", ".join(texts) or shape


def offered_resources(objects: Objects) -> set[str]:
    """Return the names of the resources of a scenario's nodes."""
    return {resource for node in objects.of_kind("nodes").values() for resource in _allocatable(node)}


def _allocatable(node: Mapping[str, Any]) -> dict[str, str]:
    status = node.get("status") or {}
    offered = status.get("allocatable") or status.get("capacity") or {}
    return {resource: str(quantity) for resource, quantity in offered.items()}


def _row(name: str, node: Mapping[str, Any], pods: int, origin: str) -> NodeRow:
    metadata, spec = (node.get(part) or {} for part in ("metadata", "spec"))
    labels, allocatable = metadata.get("labels") or {}, _allocatable(node)
    taints = [_taint(taint) for taint in spec.get("taints") or []]
    return NodeRow(
        name=name,
        pool=pool_of(node),
        allocatable=allocatable,
        amounts=read_amounts(allocatable),
        unschedulable=bool(spec.get("unschedulable")),
        taints=taints,
        labels=labels,
        pods=pods,
        origin=origin,
    )


def _taint(taint: Mapping[str, Any]) -> str:
    value = f"={taint['value']}" if taint.get("value") else ""
    return f"{taint.get('key', '')}{value}:{taint.get('effect', '')}"
