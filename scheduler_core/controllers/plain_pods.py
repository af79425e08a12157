"""PodGroups of plain pods.

Source: volcano ``pkg/controllers/podgroup/pg_controller_handler.go`` at v1.15.1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from scheduler_core.controllers.made import DEFAULT_QUEUE, QUEUE_NAME, Made, Object, namespaced_queue, picked
from scheduler_core.controllers.usage import as_quantities, pod_usage
from scheduler_core.controllers.vcjob import BUDGETS, INHERITED_ANNOTATIONS, INHERITED_LABELS
from scheduler_core.model.pod_info import GROUP_NAME


def group_plain_pods(
    pods: Mapping[str, Object],
    *,
    podgroups: Mapping[str, Object],
    namespaces: Sequence[Object],
    scheduler_names: Sequence[str],
    default_requests: bool,
) -> Made:
    """Return the missing PodGroups of plain pods, and the pods annotated with them.

    All pods of one controlling owner share a PodGroup with minMember 1.

    Parameters
    ----------
    pods : mapping
        Every pod by namespace/name; pods of other schedulers and pods that name a group are skipped.
    podgroups : mapping
        The existing PodGroups, by namespace/name.
    namespaces : sequence
        Namespaces, for their default queues.
    scheduler_names : sequence
        The schedulers whose pods are grouped.
    default_requests : bool
        Whether missing requests of a container default to its limits.

    """
    made = Made()
    known = set(podgroups)
    for pod in (pods[key] for key in sorted(pods)):
        metadata = pod["metadata"]
        annotations = metadata.get("annotations") or {}
        if not lacks_podgroup(pod, scheduler_names):
            continue
        group = group_name(metadata)
        if f"{metadata['namespace']}/{group}" not in known:
            known.add(f"{metadata['namespace']}/{group}")
            podgroup = _podgroup(pod, group, namespaces, default_requests=default_requests)
            made.add_podgroup(podgroup, _queue_of(annotations))
            made.notes["Added: {n} PodGroup{s} for pods that belong to none."] += 1
        made.pods.append({**pod, "metadata": {**metadata, "annotations": {**annotations, GROUP_NAME: group}}})
        made.notes[
            "Assumed: {n} pod{s} without a PodGroup: one was added, as Volcano's controller does."
        ] += 1
    return made


def lacks_podgroup(pod: Object, scheduler_names: Sequence[str]) -> bool:
    """Return whether a pod of these schedulers names no PodGroup."""
    annotations = pod["metadata"].get("annotations") or {}
    ours = (pod.get("spec") or {}).get("schedulerName") in scheduler_names
    return ours and not annotations.get(GROUP_NAME)


def group_name(metadata: Mapping[str, Any]) -> str:
    """Return the name of a plain pod's PodGroup: that of its controlling owner, else its own."""
    for owner in metadata.get("ownerReferences") or ():
        if owner.get("controller"):
            return f"podgroup-{owner.get('uid')}"
    return f"podgroup-{metadata['uid']}"


def _queue_of(annotations: Mapping[str, str]) -> str:
    return annotations.get(QUEUE_NAME) or DEFAULT_QUEUE


def _podgroup(pod: Object, group: str, namespaces: Sequence[Object], *, default_requests: bool) -> Object:
    metadata, spec = pod["metadata"], pod["spec"]
    annotations, labels = metadata.get("annotations") or {}, metadata.get("labels") or {}
    namespace = metadata["namespace"]
    group_spec = {
        "minMember": 1,
        "queue": namespaced_queue(_queue_of(annotations), namespace, namespaces),
        "minResources": as_quantities(pod_usage(spec, default_requests=default_requests)),
    }
    if spec.get("priorityClassName"):
        group_spec["priorityClassName"] = spec["priorityClassName"]
    return {
        "metadata": {
            "name": group,
            "namespace": namespace,
            "annotations": {
                **picked(annotations, INHERITED_ANNOTATIONS),
                **dict(list(picked(annotations, BUDGETS).items())[:1]),
            },
            "labels": picked(labels, INHERITED_LABELS),
            **picked(metadata, ("creationTimestamp",)),
        },
        "spec": group_spec,
        "status": {"phase": "Pending"},
    }
