"""What do these objects ask for that the core does not model, and what does that mean for the answer?"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

Object = Mapping[str, Any]

NAMED = 5
CLAIMING_VOLUMES = ("persistentVolumeClaim", "ephemeral")

# Lists of a scenario that nothing here reads.
UNREAD_LISTS: Mapping[str, str] = {
    "hypernodes": "nodes are not grouped by network topology",
    "sharding": "every node is open to this scheduler",
}


def claims_volumes(pod: Object) -> bool:
    """Tell whether a pod uses volumes that are bound, limited or placed by zone."""
    return any(volume.get(kind) for volume in pod["spec"].get("volumes") or () for kind in CLAIMING_VOLUMES)


def claims_resources(pod: Object) -> bool:
    """Tell whether a pod uses resource claims."""
    return bool(pod["spec"].get("resourceClaims"))


def names_topology(podgroup: Object) -> bool:
    """Tell whether a PodGroup asks for nodes that are near in the network."""
    return bool((podgroup.get("spec") or {}).get("networkTopology"))


def has_subgroups(podgroup: Object) -> bool:
    """Tell whether a PodGroup divides its pods into groups of their own."""
    return bool((podgroup.get("spec") or {}).get("subGroupPolicy"))


POD_PARTS: Mapping[str, tuple[Callable[[Object], bool], str]] = {
    "volumes": (claims_volumes, "binding, zones and limits of volumes refuse no node"),
    "resource claims": (claims_resources, "dynamic resources refuse no node and count in no queue"),
}
PODGROUP_PARTS: Mapping[str, tuple[Callable[[Object], bool], str]] = {
    "networkTopology": (names_topology, "the whole cluster counts as near"),
    "subGroupPolicy": (has_subgroups, "only the whole gang counts"),
}


DEVICE_CLASS = "deviceclass/"


def limits_device_classes(queue: Object) -> bool:
    """Tell whether a queue names quotas of device classes; plugin capacity counts resource claims by them."""
    spec = queue.get("spec") or {}
    parts = (spec.get("capability"), spec.get("deserved"), (spec.get("guarantee") or {}).get("resource"))
    return any(DEVICE_CLASS in name for part in parts for name in part or ())


def queue_notes(queues: Iterable[Object]) -> list[str]:
    """Return a sentence about the quotas of queues that are not modelled."""
    limiting = sorted(queue["metadata"]["name"] for queue in queues if limits_device_classes(queue))
    if not limiting:
        return []
    return [
        f"quotas of device classes of queues {', '.join(limiting)} are not modelled: no resource claim"
        " counts against them"
    ]


def unmodelled_notes(
    document: Object, pods: Mapping[str, Object], podgroups: Mapping[str, Object]
) -> list[str]:
    """Return one sentence for each thing that is not modelled, with the objects that ask for it.

    Pods and PodGroups are given by namespace/name.
    """
    notes = [
        f"{name} not modelled: {meaning}" for name, meaning in UNREAD_LISTS.items() if document.get(name)
    ]
    for objects, kind, parts in ((pods, "pods", POD_PARTS), (podgroups, "podgroups", PODGROUP_PARTS)):
        for what, (asks, meaning) in parts.items():
            asking = [key for key, thing in objects.items() if asks(thing)]
            if asking:
                notes.append(f"{what} of {kind} {named(asking)} are not modelled: {meaning}")
    return notes


def named(keys: Iterable[str]) -> str:
    """Return the names of objects, the first few in full.

    Examples
    --------
    >>> named(f"a/{number}" for number in range(7))
    'a/0, a/1, a/2, a/3, a/4 and 2 more'

    """
    names = sorted(keys)
    rest = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return ", ".join(names[:NAMED]) + rest
