"""The checks of Volcano's webhook for the policies, partitions and NUMA topology of a Job.

Source: volcano ``pkg/webhooks/admission/jobs/validate``,
``config/crd/volcano/bases/batch.volcano.sh_jobs.yaml`` at v1.15.1.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from scheduler_core.problem import Problem, refused
from scheduler_core.quantity import QuantityError, parse_quantity

Steps = tuple[str | int, ...]

ANY_EVENT = "*"
EVENTS = frozenset(
    {
        ANY_EVENT,
        "PodPending",
        "PodFailed",
        "PodEvicted",
        "Unknown",
        "TaskCompleted",
        "TaskFailed",
        "JobUpdated",
    }
)
ACTIONS = frozenset(
    {
        "AbortJob",
        "RestartJob",
        "RestartTask",
        "RestartPod",
        "RestartPartition",
        "TerminateJob",
        "CompleteJob",
        "ResumeJob",
    }
)


def policy_problems(policies: Any, way: Steps) -> Iterator[Problem]:
    """Report the policies of a Job or a task that the webhook refuses."""
    known: set[str] = set()
    codes: set[int] = set()
    for index, policy in enumerate(policies if isinstance(policies, list) else ()):
        if not isinstance(policy, Mapping):
            continue
        at, events, code = (*way, "policies", index), _events(policy), policy.get("exitCode")
        if bool(events) == (code is not None):
            have = "both an event and an exit code" if events else "neither an event nor an exit code"
            yield refused("job.policy", at, f"has {have}", fix="write one of the two")
        elif events:
            yield from _event_problems(policy, events, known, at)
            known |= events
        elif isinstance(code, int):
            if code == 0 or code in codes:
                why = "which is not a failure" if code == 0 else "which another policy has"
                message = f"has exit code {code}, {why}"
                yield refused("job.policy", at, message, actual=code, fix="write another code")
            codes.add(code)
    if ANY_EVENT in known and len(known) > 1:
        message, fix = "name other events in addition to *", "remove the other events"
        yield refused("job.policy", (*way, "policies"), message, fix=fix)


def _events(policy: Mapping[str, Any]) -> set[str]:
    """Return the events of a policy; an empty `event` is none, but an empty one of `events` counts."""
    named = policy.get("events")
    listed = [*(named if isinstance(named, list) else ()), policy.get("event") or None]
    return {event for event in listed if isinstance(event, str)}


def _event_problems(
    policy: Mapping[str, Any], events: set[str], known: set[str], at: Steps
) -> Iterator[Problem]:
    action = policy.get("action")
    for event in sorted(events - EVENTS):
        fix = f"write one of {', '.join(sorted(EVENTS))}"
        yield refused("job.policy", at, f"names {event!r}, which is not an event", actual=event, fix=fix)
    if not isinstance(action, str) or action not in ACTIONS:
        fix = f"write one of {', '.join(sorted(ACTIONS))}"
        yield refused("job.policy", at, f"has action {action!r}", actual=action, fix=fix)
    for event in sorted(events & known):
        fix = "remove it from one of them"
        yield refused("job.policy", at, f"names {event}, which another policy names", actual=event, fix=fix)


def partition_problems(task: Mapping[str, Any], way: Steps) -> Iterator[Problem]:
    """Report partitions that do not divide the pods of a task."""
    policy, at = task.get("partitionPolicy"), (*way, "partitionPolicy")
    if not isinstance(policy, Mapping):
        return
    total, size, least = (
        _number(policy, name) for name in ("totalPartitions", "partitionSize", "minPartitions")
    )
    if total <= 0 or size <= 0:
        message, fix = "has no partition, or partitions without pods", "write 1 or more"
        yield refused("job.partition", at, message, limit=1, fix=fix)
    elif _number(task, "replicas") != total * size:
        message = f"divides {total * size} pods, but the task has {_number(task, 'replicas')}"
        fix = "make totalPartitions x partitionSize the number of replicas"
        yield refused("job.partition", at, message, actual=total * size, fix=fix)
    elif least > total:
        message, fix = f"needs {least} partitions, but has {total}", f"write at most {total}"
        yield refused("job.partition", at, message, actual=least, limit=total, fix=fix)
    elif least > 0 and task.get("minAvailable") not in (None, least * size):
        message = f"needs {least * size} pods, but minAvailable is {task.get('minAvailable')}"
        fix = "make minPartitions x partitionSize minAvailable"
        yield refused("job.partition", at, message, actual=least * size, fix=fix)


TOPOLOGY_POLICIES = ("none", "best-effort", "restricted", "single-numa-node")


def topology_problems(task: Mapping[str, Any], way: Steps) -> Iterator[Problem]:
    """Report an unknown NUMA policy, and containers that it refuses because they do not use whole cores."""
    policy = task.get("topologyPolicy")
    if policy is None or policy == "none":
        return
    if policy not in TOPOLOGY_POLICIES:
        fix = f"write one of {', '.join(TOPOLOGY_POLICIES)}"
        yield refused(
            "job.topology",
            (*way, "topologyPolicy"),
            f"is {policy!r}, which is not a policy",
            actual=policy,
            fix=fix,
        )
        return
    template = task.get("template")
    spec = (template.get("spec") if isinstance(template, Mapping) else None) or {}
    for kind in ("containers", "initContainers"):
        for index, container in enumerate(spec.get(kind) or ()):
            if not _requests_whole_cores(container):
                message = f"does not request whole cores, which topologyPolicy {policy} needs"
                at = (*way, "template", "spec", kind, index, "resources")
                yield refused("job.topology", at, message, limit=1, fix="request 1, 2, … cpu")


def _requests_whole_cores(container: Any) -> bool:
    """Return whether a container requests 1 or more whole cores; only without any request limits count."""
    resources = _part(container, "resources")
    amounts = _part(resources, "requests") or _part(resources, "limits")
    try:
        cores = parse_quantity(amounts.get("cpu") or 0)
    except QuantityError:
        return True  # reported as unreadable
    return cores >= 1 and cores.denominator == 1


def _part(holder: Any, field: str) -> Mapping[str, Any]:
    """Return a part of an object, empty if it is absent or malformed."""
    value = holder.get(field) if isinstance(holder, Mapping) else None
    return value if isinstance(value, Mapping) else {}


def _number(holder: Mapping[str, Any], field: str) -> int:
    value = holder.get(field)
    return value if isinstance(value, int) and not isinstance(value, bool) else 0
