"""The scenarios that the reference engine covers: all but those with a reason in `left_out`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tests.reference.admission import conf_of, items, queues_of

Object = Mapping[str, Any]

# Plugins of Volcano whose rules are not implemented here; Volcano ignores unknown names.
UNCOVERED_PLUGINS = {
    *("deviceshare", "extender", "network-topology-aware", "numa-aware", "rescheduling", "task-topology"),
}
# Parts of a scenario that affect its sessions and are not implemented here.
UNCOVERED_PARTS = (
    *("jobs", "services", "release", "volcano_version", "controllers", "replay", "hypernodes", "sharding"),
    *("resourceclaims", "persistentvolumeclaims"),
)
# The implemented parts of replays and of their events.
COVERED_OF_REPLAYS = {
    *("period_seconds", "horizon_seconds", "start_delay_seconds", "termination_seconds", "evicted", "events"),
}
COVERED_VERBS = ("create", "replace", "delete", "drain")


def left_out(document: Object) -> str | None:
    """Return why a scenario is not covered, None if it is."""
    return next(reasons(document), None)


def reasons(document: Object) -> Iterator[str]:
    """Yield everything in a scenario that is not covered."""
    for name in UNCOVERED_PARTS:
        if document.get(name):
            yield f"{name} in the scenario"
    conf = conf_of(document)
    tiers = conf.get("tiers") if isinstance(conf, Mapping) else None
    entries = [entry for tier in tiers or () for entry in tier.get("plugins") or ()]
    for name in sorted({entry["name"] for entry in entries} & UNCOVERED_PLUGINS):
        yield f"plugin {name}"
    if any(entry["name"] == "capacity" and entry.get("enableHierarchy") for entry in entries):
        yield from _of_tree(document)
    for group in items(document, "podgroups"):
        if group["spec"].get("networkTopology") or group["spec"].get("subGroupPolicy"):
            yield "a network topology or subgroups of a PodGroup"
    for pod in items(document, "pods"):
        if pod["spec"].get("volumes") or pod["spec"].get("resourceClaims"):
            yield "volumes or claims of a pod"
        if (pod.get("status") or {}).get("containerStatuses"):
            yield "statuses of containers"
    if any((node.get("status") or {}).get("images") for node in items(document, "nodes")):
        yield "images of a node"
    names = [action.strip() for action in (conf or {}).get("actions", "").split(",")] if entries else []
    gangs = [position for position, name in enumerate(names) if name.startswith("gang")]
    if gangs and {*names[gangs[0] + 1 :]} & {"allocate", "gangpreempt", "gangreclaim"}:
        yield "an action after a gang's evictions"


def _of_tree(document: Object) -> Iterator[str]:
    parents = {
        queue["metadata"]["name"]: (queue.get("spec") or {}).get("parent") or "root"
        for queue in queues_of(document)
        if queue["metadata"]["name"] != "root"
    }
    for name in parents:
        path = [name]
        while path[-1] in parents and len(path) <= len(parents):
            path.append(parents[path[-1]])
        if path[-1] in parents:
            yield "a circle of queues"
            return


def left_out_of_replays(document: Object) -> str | None:
    """Return why a replay is not covered, None if it is."""
    return next(reasons_of_replay(document), None)


def reasons_of_replay(document: Object) -> Iterator[str]:
    """Yield everything in a replay that is not covered."""
    plan = document["replay"]
    for name in sorted({*plan} - COVERED_OF_REPLAYS):
        yield f"{name} in the replay"
    for event in plan.get("events") or ():
        for name in sorted({*event} - {"at", *COVERED_VERBS}):
            yield f"an event {name}"
        for name in sorted({*(event.get("create") or ())} - {"podgroups", "pods", "nodes", "queues"}):
            yield f"an event that creates {name}"
        if (event.get("delete") or {}).get("jobs"):
            yield "an event that deletes jobs"
    if plan.get("evicted", "restart") not in ("restart", "resume", "restart-job", "delete"):
        yield "owners of pods"
    yield from reasons({**document, "replay": None})
