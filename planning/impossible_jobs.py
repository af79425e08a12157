"""Waiting jobs that can never run, and why."""

from collections.abc import Mapping
from typing import Any

from scheduler_core.resource import MIN_RESOURCE

Json = Mapping[str, Any]

NEVER = {
    "not_offered": "no node offers a resource that the job requests",
    "too_large": "no node is large enough, even when empty",
    "barred": "every node refuses the job, whatever else runs",
    "members": "the job has fewer pods than its minimum",
    "limit": "the job requests more than its queue may ever hold",
}
"""Why a job can never run while nodes, queues and the job stay as they are."""
_OF_NODES = {"not_offered": "not_offered", "too_large": "too_large", "barred": "for_good"}
"""The fact of the nodes that shows each of these reasons."""


def never_runs(job: Json) -> str:
    """Return why a waiting job can never run in this cluster, empty if it might; see NEVER.

    An obstacle of one pod stops the job only if the job needs all of its pods. Terminating pods count as
    members, because their controller creates them again.

    >>> job = {"ready": False, "pending_explain": {"gate": "gang", "missing": 2}}
    >>> [never_runs({**job, "task_status": {"Releasing": pods}}) for pods in (1, 2)]
    ['members', '']
    """
    pending = job["pending_explain"]
    gate = pending.get("gate")
    if job["ready"]:
        return ""
    if gate == "gang":
        return "members" if pending["missing"] > job["task_status"].get("Releasing", 0) else ""
    needs_every_pod = job["min_available"] >= job["pods"]
    if gate == "node" and needs_every_pod:
        return next((why for why, fact in _OF_NODES.items() if pending.get(fact)), "")
    if gate == "enqueue" or (gate == "queue" and needs_every_pod):
        return "limit" if _is_beyond_limit(pending) else ""
    return ""


def _is_beyond_limit(pending: Json) -> bool:
    """Return whether a job requests more than its queue may ever use. Quotas and overcommit do not count."""
    if "factor" in pending or pending.get("quota") or pending.get("bound") == "deserved":
        return False
    limits, short = pending.get("limit") or {}, pending.get("short") or {}
    return any(
        facts["required"] > limits[name] + MIN_RESOURCE for name, facts in short.items() if name in limits
    )
