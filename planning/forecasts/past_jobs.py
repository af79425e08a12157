"""The jobs of a scenario that were over before its forecast begins."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from planning.documents import items
from traces.kubernetes import key_of, members_of, owning_jobs

Json = Mapping[str, Any]

ENDED_JOB = ("Completed", "Failed", "Terminated", "Aborted")
_ENDED_POD = ("Succeeded", "Failed")


def past_jobs(document: Json) -> frozenset[str]:
    """Return the PodGroups whose pods have all ended, or that are Completed and have none, by key.

    The PodGroups of finished batch Jobs and of applications of Spark stay in a cluster. Those of vcjobs that
    have not ended are not among them, as their controller may create their pods again.
    """
    going = {key_of(job) for job in items(document.get("jobs")) if not has_ended(job)}
    members = members_of(items(document.get("pods")))
    return frozenset(
        key
        for group in items(document.get("podgroups"))
        if _is_over(group, members.get(key := key_of(group), ())) and going.isdisjoint(owning_jobs(group))
    )


def has_ended(job: Json) -> bool:
    """Return whether a vcjob has ended."""
    return ((job.get("status") or {}).get("state") or {}).get("phase") in ENDED_JOB


def _is_over(group: Json, pods: Any) -> bool:
    if not pods:
        return (group.get("status") or {}).get("phase") == "Completed"
    return all((pod.get("status") or {}).get("phase") in _ENDED_POD for pod in pods)
