"""The fields that the scheduler reads from pods, with their types."""

from __future__ import annotations

from collections.abc import Mapping

from scheduler_core.validate.fields import (
    INT32,
    INT64,
    Check,
    flag,
    list_of,
    one_of,
    quantities,
    record,
    text,
    texts,
    time,
    whole,
)

CONDITION = record({"type": text, "status": text, "reason": text, "lastTransitionTime": time})
SELECTOR_EXPRESSION = record(
    {"key": text, "operator": text, "values": list_of(text)}, required=["key", "operator"]
)
LABEL_SELECTOR = record({"matchLabels": texts, "matchExpressions": list_of(SELECTOR_EXPRESSION)})
NODE_TERM = record(
    {"matchExpressions": list_of(SELECTOR_EXPRESSION), "matchFields": list_of(SELECTOR_EXPRESSION)}
)
WEIGHT = whole(-INT32 - 1)
NODE_AFFINITY = record(
    {
        "requiredDuringSchedulingIgnoredDuringExecution": record({"nodeSelectorTerms": list_of(NODE_TERM)}),
        "preferredDuringSchedulingIgnoredDuringExecution": list_of(
            record({"weight": WEIGHT, "preference": NODE_TERM})
        ),
    }
)
POD_TERM = record(
    {
        "labelSelector": LABEL_SELECTOR,
        "topologyKey": text,
        "namespaces": list_of(text),
        "namespaceSelector": LABEL_SELECTOR,
        "matchLabelKeys": list_of(text),
        "mismatchLabelKeys": list_of(text),
    }
)
POD_AFFINITY = record(
    {
        "requiredDuringSchedulingIgnoredDuringExecution": list_of(POD_TERM),
        "preferredDuringSchedulingIgnoredDuringExecution": list_of(
            record({"weight": WEIGHT, "podAffinityTerm": POD_TERM})
        ),
    }
)
AFFINITY = record(
    {"nodeAffinity": NODE_AFFINITY, "podAffinity": POD_AFFINITY, "podAntiAffinity": POD_AFFINITY}
)
TOLERATION = record(
    {"key": text, "operator": text, "value": text, "effect": text, "tolerationSeconds": whole(-INT64)}
)
SPREAD = record(
    {
        "maxSkew": whole(),
        "topologyKey": text,
        "whenUnsatisfiable": text,
        "labelSelector": LABEL_SELECTOR,
        "minDomains": whole(),
        "nodeAffinityPolicy": text,
        "nodeTaintsPolicy": text,
        "matchLabelKeys": list_of(text),
    }
)
RESOURCES = record({"requests": quantities, "limits": quantities})
CONTAINER = record(
    {
        "name": text,
        "image": text,
        "resources": RESOURCES,
        "restartPolicy": text,
        "ports": list_of(
            record({"containerPort": whole(), "hostPort": whole(), "protocol": text, "hostIP": text})
        ),
    }
)
POD_SPEC_SCALARS: Mapping[str, Check] = {
    "nodeName": text,
    "schedulerName": text,
    "priority": whole(-INT32 - 1),
    "priorityClassName": text,
    "preemptionPolicy": one_of("", "Never", "PreemptLowerPriority"),
}
POD_SPEC_PARTS: Mapping[str, Check] = {
    "containers": list_of(CONTAINER),
    "initContainers": list_of(CONTAINER),
    "nodeSelector": texts,
    "affinity": AFFINITY,
    "tolerations": list_of(TOLERATION),
    "topologySpreadConstraints": list_of(SPREAD),
    "schedulingGates": list_of(record({"name": text}, required=["name"])),
    "overhead": quantities,
    "resources": RESOURCES,
    "volumes": list_of(record({})),
    "resourceClaims": list_of(record({})),
    "hostNetwork": flag,
    "terminationGracePeriodSeconds": whole(most=INT64),
}
POD_SPEC = record({**POD_SPEC_SCALARS, **POD_SPEC_PARTS})
CONTAINER_STATUS = record(
    {
        "name": text,
        "ready": flag,
        "state": record({"terminated": record({"startedAt": time, "finishedAt": time})}),
    }
)
POD_STATUS = record(
    {
        "phase": one_of("", "Pending", "Running", "Succeeded", "Failed", "Unknown"),
        "nominatedNodeName": text,
        "startTime": time,
        "conditions": list_of(CONDITION),
        "containerStatuses": list_of(CONTAINER_STATUS),
    }
)
