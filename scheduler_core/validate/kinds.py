"""The fields that the scheduler reads from each kind, with their types."""

from __future__ import annotations

from collections.abc import Mapping

from scheduler_core.validate.fields import (
    INT32,
    INT64,
    Check,
    annotation_texts,
    anything,
    cron,
    duration,
    flag,
    list_of,
    map_of,
    name,
    one_of,
    quantities,
    quotas,
    record,
    text,
    texts,
    time,
    time_zone,
    whole,
)
from scheduler_core.validate.pod_fields import CONDITION, LABEL_SELECTOR, POD_SPEC, POD_STATUS

OWNER = record({"uid": text, "controller": flag})
METADATA = record(
    {
        "name": name,
        "namespace": text,
        "uid": text,
        "labels": texts,
        "annotations": annotation_texts,
        "creationTimestamp": time,
        "deletionTimestamp": time,
        "ownerReferences": list_of(OWNER),
    },
    required=["name"],
)


def _object(*, spec: Check = anything, status: Check = anything, **fields: Check) -> Check:
    return record({"metadata": METADATA, "spec": spec, "status": status, **fields}, required=["metadata"])


# jobs

TEMPLATE_METADATA = record({"labels": texts, "annotations": annotation_texts})
POD_TEMPLATE = record({"metadata": TEMPLATE_METADATA, "spec": POD_SPEC})
POLICY = record(
    {"event": text, "events": list_of(text), "action": text, "exitCode": whole(), "timeout": duration}
)
JOB_TASK = record(
    {
        "policies": list_of(POLICY),
        "maxRetry": whole(-1),
        "name": text,
        "replicas": whole(),
        "minAvailable": whole(),
        "template": POD_TEMPLATE,
        "topologyPolicy": text,
        "partitionPolicy": record(
            {"totalPartitions": whole(), "partitionSize": whole(), "minPartitions": whole()}
        ),
        "dependsOn": record({"name": list_of(text), "iteration": text}),
    }
)
JOB_SPEC = record(
    {
        "policies": list_of(POLICY),
        "maxRetry": whole(),
        "minSuccess": whole(),
        "ttlSecondsAfterFinished": whole(),
        "queue": text,
        "schedulerName": text,
        "minAvailable": whole(),
        "priorityClassName": text,
        "volumes": list_of(record({"volumeClaimName": text})),
        "tasks": list_of(JOB_TASK),
    }
)
JOB_TEMPLATE = record({"metadata": TEMPLATE_METADATA, "spec": JOB_SPEC})
CRON_SPEC = record(
    {
        "schedule": cron,
        "timeZone": time_zone,
        "suspend": flag,
        "concurrencyPolicy": one_of("", "Allow", "Forbid", "Replace"),
        "successfulJobsHistoryLimit": whole(),
        "failedJobsHistoryLimit": whole(),
        "jobTemplate": JOB_TEMPLATE,
    },
    required=["schedule", "jobTemplate"],
)
FLOW_SPEC = record(
    {
        "flows": list_of(
            record({"name": name, "dependsOn": record({"targets": list_of(text)})}, required=["name"])
        ),
        "jobRetainPolicy": one_of("", "retain", "delete"),
    },
    required=["flows"],
)
JOB_STATUS = record({"state": record({"phase": text}), "version": whole(), "retryCount": whole()})

# queues

GROUP_LISTS = record(
    {
        "requiredDuringSchedulingIgnoredDuringExecution": list_of(text),
        "preferredDuringSchedulingIgnoredDuringExecution": list_of(text),
    }
)
QUEUE_SPEC = record(
    {
        "weight": whole(),
        "priority": whole(-INT32 - 1),
        "parent": text,
        "reclaimable": flag,
        "capability": quotas,
        "deserved": quotas,
        "guarantee": record({"resource": quotas}),
        "dequeueStrategy": one_of("", "fifo", "traverse", severity="warning"),
        "affinity": record({"nodeGroupAffinity": GROUP_LISTS, "nodeGroupAntiAffinity": GROUP_LISTS}),
    }
)
QUEUE_STATUS = record(
    {
        "state": one_of("", "Open", "Closed", "Closing", "Unknown", severity="warning"),
        "allocated": quantities,
    }
)

PODGROUP_SPEC = record(
    {
        "minMember": whole(),
        "minTaskMember": map_of(whole()),
        "queue": text,
        "priorityClassName": text,
        "minResources": quotas,
        "networkTopology": record({"mode": text, "highestTierAllowed": whole(), "highestTierName": text}),
        "subGroupPolicy": list_of(record({"name": text, "subGroupSize": whole(), "minSubGroups": whole()})),
    }
)
PODGROUP_STATUS = record(
    {
        "phase": one_of("", "Pending", "Inqueue", "Running", "Unknown", "Completed", severity="warning"),
        "conditions": list_of(CONDITION),
    }
)

NODE_SPEC = record(
    {
        "unschedulable": flag,
        "taints": list_of(record({"key": text, "value": text, "effect": text}, required=["key", "effect"])),
    }
)
NODE_STATUS = record(
    {
        "allocatable": quantities,
        "capacity": quantities,
        "conditions": list_of(CONDITION),
        "images": list_of(record({"names": list_of(text), "sizeBytes": whole(most=INT64)})),
    }
)

QUOTA_AMOUNTS = record({"hard": quantities, "used": quantities})
BUDGET_SPEC = record({"selector": LABEL_SELECTOR})
BUDGET_STATUS = record({"disruptionsAllowed": whole(-INT32 - 1), "disruptedPods": map_of(text)})

POD = _object(spec=POD_SPEC, status=POD_STATUS)

KINDS: Mapping[str, tuple[str, Check]] = {
    "nodes": ("node", _object(spec=NODE_SPEC, status=NODE_STATUS)),
    "queues": ("queue", _object(spec=QUEUE_SPEC, status=QUEUE_STATUS)),
    "podgroups": ("podgroup", _object(spec=PODGROUP_SPEC, status=PODGROUP_STATUS)),
    "pods": ("pod", POD),
    "jobs": ("job", _object(spec=JOB_SPEC, status=JOB_STATUS)),
    "priorityclasses": (
        "priority class",
        _object(value=whole(-INT32 - 1), globalDefault=flag, preemptionPolicy=text),
    ),
    "resourcequotas": ("resource quota", _object(spec=QUOTA_AMOUNTS, status=QUOTA_AMOUNTS)),
    "namespaces": ("namespace", _object()),
    "poddisruptionbudgets": ("disruption budget", _object(spec=BUDGET_SPEC, status=BUDGET_STATUS)),
    "services": ("service", _object(spec=record({"selector": texts}))),
}
TIMED: Mapping[str, Check] = {
    "cronjobs": _object(spec=CRON_SPEC),
    "jobflows": _object(spec=FLOW_SPEC),
    "jobtemplates": _object(spec=JOB_SPEC),
}
"""Kinds that only the events of a replay may create."""
NAMESPACED = frozenset({"podgroups", "pods", "jobs", "resourcequotas", "poddisruptionbudgets", "services"})
