"""Edits of the nodes and jobs of a scenario document."""

from collections.abc import Mapping, Sequence
from typing import Any

from manifests.pools import HOSTNAME, node_like, numbered_names
from planning.queues import merge_patch
from queuecast.job_parts import parts_of
from queuecast.plans import key_of
from queuecast.problems import Json, Refused, problem, refusal, unknown

MOST_NODES = 20_000
"""The limit of a server."""


def nodes_added(
    document: Json, *, count: int, prefix: str, like: str = "", capacity: Mapping[str, str] | None = None
) -> list[str]:
    """Add copies of a node, or nodes of a given capacity; return their names."""
    nodes = _by_name(document)
    if not 1 <= count <= MOST_NODES:
        message = f"{count} is not between 1 and {MOST_NODES}"
        raise refusal(
            [problem(rule="number.range", severity="error", message=message, path="count", actual=count)]
        )
    shape = _one(nodes, like) if like else _of(capacity or {})
    names = numbered_names(prefix, count, nodes)
    document["nodes"] = [*nodes.values(), *(node_like(shape, name) for name in names)]
    return names


def node_changed(document: Json, name: str, patch: Mapping[str, Any]) -> Json:
    """Change a node of the document by a JSON merge patch; return it."""
    nodes = _by_name(document)
    after: Json = merge_patch(_one(nodes, name), patch)
    if after["metadata"].get("name") != name:
        raise Refused("A node cannot be renamed: add one with the new name and remove this one.")
    document["nodes"] = list({**nodes, name: after}.values())
    return after


def nodes_removed(document: Json, names: Sequence[str]) -> None:
    """Remove nodes of the document; their pods stay, but use no resources of any node."""
    nodes = _by_name(document)
    for name in names:
        _one(nodes, name)
    document["nodes"] = [node for name, node in nodes.items() if name not in names]


def job_removed(document: Json, name: str) -> None:
    """Remove a vcjob or PodGroup `namespace/name` of the document with all that belongs to it."""
    parts = parts_of(document, name)
    if not parts:
        known = (
            "/".join(key_of(kind, one)) for kind in ("jobs", "podgroups") for one in document.get(kind) or ()
        )
        raise unknown("job", name, known, where="in the scenario")
    for kind, keys in parts.items():
        document[kind] = [one for one in document[kind] if key_of(kind, one) not in keys]


def _by_name(document: Mapping[str, Any]) -> dict[str, Json]:
    return {node["metadata"]["name"]: node for node in document.get("nodes") or ()}


def _one(nodes: Mapping[str, Json], name: str) -> Json:
    if name not in nodes:
        raise unknown("node", name, nodes, where="in the scenario")
    return nodes[name]


def _of(capacity: Mapping[str, str]) -> Json:
    return {
        "metadata": {"name": "", "labels": {HOSTNAME: ""}},
        "status": {"capacity": dict(capacity), "allocatable": {"pods": "110", **capacity}},
    }
