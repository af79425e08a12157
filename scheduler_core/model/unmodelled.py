"""Uses of features that the core does not model, and their effect on a result."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

Object = Mapping[str, Any]

NOT_MODELLED = "Not modelled: "
"""The beginning of a note on something that results leave out; all other notes are assumptions."""

NAMED = 5
CLAIMING_VOLUMES = ("persistentVolumeClaim", "ephemeral")

# Lists of a scenario that the core does not read.
UNREAD_LISTS: Mapping[str, str] = {
    "hypernodes": "Nodes are not grouped by network topology.",
    "sharding": "This scheduler may use every node.",
}


def claims_volumes(pod: Object) -> bool:
    """Return whether a pod uses volumes that are bound, limited or placed by zone."""
    volumes = (pod.get("spec") or {}).get("volumes") or ()
    return any(volume.get(kind) for volume in volumes for kind in CLAIMING_VOLUMES)


def claims_resources(pod: Object) -> bool:
    """Return whether a pod uses resource claims."""
    return bool((pod.get("spec") or {}).get("resourceClaims"))


def names_topology(podgroup: Object) -> bool:
    """Return whether a PodGroup requires nodes that are close in the network."""
    return bool((podgroup.get("spec") or {}).get("networkTopology"))


def has_subgroups(podgroup: Object) -> bool:
    """Return whether a PodGroup divides its pods into subgroups."""
    return bool((podgroup.get("spec") or {}).get("subGroupPolicy"))


POD_PARTS: Mapping[str, tuple[Callable[[Object], bool], str]] = {
    "volumes": (claims_volumes, "Volume binding, zones and limits rule out no node."),
    "resource claims": (
        claims_resources,
        "Dynamically allocated devices rule out no node and count against no queue.",
    ),
}
PODGROUP_PARTS: Mapping[str, tuple[Callable[[Object], bool], str]] = {
    "networkTopology": (names_topology, "All nodes count as one topology domain."),
    "subGroupPolicy": (has_subgroups, "Only the gang as a whole is counted."),
}


DEVICE_CLASS = "deviceclass/"


def limits_device_classes(queue: Object) -> bool:
    """Return whether a queue names quotas of device classes, by which capacity counts resource claims."""
    spec = queue.get("spec") or {}
    parts = (spec.get("capability"), spec.get("deserved"), (spec.get("guarantee") or {}).get("resource"))
    return any(DEVICE_CLASS in name for part in parts for name in part or ())


DEVICE_QUOTAS = "No resource claim counts against them."


def other_scheduler_notes(waiting: Iterable[Object], names: Collection[str]) -> list[str]:
    """Return a note on waiting pods of other schedulers than those of these names."""
    found = Counter(
        scheduler
        for pod in waiting
        if (scheduler := (pod.get("spec") or {}).get("schedulerName")) and scheduler not in names
    )
    if not found:
        return []
    pods = "1 waiting pod" if found.total() == 1 else f"{found.total():,} waiting pods"
    verb = "gets" if found.total() == 1 else "get"
    return [f"{NOT_MODELLED}other schedulers. {pods} of {', '.join(sorted(found))} {verb} no node here."]


def is_of_daemonset(pod: Object) -> bool:
    """Return whether a DaemonSet has created a pod."""
    owners = pod["metadata"].get("ownerReferences") or ()
    return any(owner.get("kind") == "DaemonSet" for owner in owners)


def belongs_to_node(pod: Object) -> bool:
    """Return whether a pod is part of its node: a static one, or one of a DaemonSet."""
    owners = pod["metadata"].get("ownerReferences") or ()
    return any(owner.get("kind") in ("DaemonSet", "Node") for owner in owners)


DAEMONS = (
    f"{NOT_MODELLED}DaemonSets on new nodes that are no copies of a node with their pods. These take up room"
    " on the other nodes, so that more fits a new node here than in the cluster:"
)


def daemon_notes(bare: Collection[str]) -> list[str]:
    """Return a note on nodes without pods of DaemonSets, in a cluster in which other nodes have some."""
    verb = "has" if len(bare) == 1 else "have"
    return [f"{DAEMONS} {named(bare, 'node')} {verb} none."] if bare else []


def quota_notes(jobs: Iterable[Object], quotas: Iterable[Object]) -> list[str]:
    """Return a note on ResourceQuotas of namespaces in which controllers create pods of Jobs."""
    limited = {_namespace(quota) for quota in quotas if (quota.get("spec") or {}).get("hard")}
    concerned = limited & {_namespace(job) for job in jobs}
    return [f"{NOT_MODELLED}{QUOTAS} {named(concerned, 'namespace')}."] if concerned else []


QUOTAS = "ResourceQuotas when pods of Jobs are created. The API server refuses pods above those of"


def _namespace(thing: Object) -> str:
    return thing["metadata"].get("namespace") or "default"


def queue_notes(queues: Iterable[Object]) -> list[str]:
    """Return a sentence about the quotas of queues that are not modelled."""
    limiting = [queue["metadata"]["name"] for queue in queues if limits_device_classes(queue)]
    return (
        [f"{NOT_MODELLED}device class quotas of {named(limiting, 'queue')}. {DEVICE_QUOTAS}"]
        if limiting
        else []
    )


def unmodelled_notes(
    document: Object, pods: Mapping[str, Object], podgroups: Mapping[str, Object]
) -> list[str]:
    """Return one sentence for each feature that is not modelled, with the objects that use it.

    Pods and PodGroups are given by namespace/name.
    """
    notes = [
        f"{NOT_MODELLED}{name}. {meaning}" for name, meaning in UNREAD_LISTS.items() if document.get(name)
    ]
    for objects, kind, parts in ((pods, "pod", POD_PARTS), (podgroups, "PodGroup", PODGROUP_PARTS)):
        for what, (uses, meaning) in parts.items():
            using = [key for key, thing in objects.items() if uses(thing)]
            if using:
                notes.append(f"{NOT_MODELLED}{what} of {named(using, kind)}. {meaning}")
    return notes


def named(keys: Iterable[str], kind: str) -> str:
    """Return the names of objects, the first few in full.

    Examples
    --------
    >>> named(["a/1"], "pod")
    'pod a/1'
    >>> named((f"a/{number}" for number in range(7)), "pod")
    'pods a/0, a/1, a/2, a/3, a/4 and 2 more'

    """
    names = sorted(keys)
    rest = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return f"{kind}{'s' if len(names) > 1 else ''} {', '.join(names[:NAMED])}{rest}"
