"""A note on pods that a forecast lacks, as their controllers create them later."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from planning.documents import items
from planning.units import amount_text
from scheduler_core.explain.wording import listed
from scheduler_core.model.pod import pod_request
from scheduler_core.model.unmodelled import NOT_MODELLED, named
from scheduler_core.resource_list import read_resource_list
from traces.kubernetes import key_of, members_of, owning_jobs

Json = Mapping[str, Any]

_NEGLIGIBLE = 0.1
"""The part of minResources that operators round or add for overhead."""
_ENDED = ("Completed", "Failed", "Succeeded")


def absent_pods_notes(document: Json) -> list[str]:
    """Return which PodGroups request more than their pods, as a note of a result.

    An application such as one of Spark creates its executors once its driver runs. Pods of vcjobs are left
    out, as a replay creates them.
    """
    jobs = {key_of(job) for job in items(document.get("jobs"))}
    members = members_of(items(document.get("pods")))
    lacking, total = [], dict[str, float]()
    for group in items(document.get("podgroups")):
        if not jobs.isdisjoint(owning_jobs(group)) or (group.get("status") or {}).get("phase") in _ENDED:
            continue
        missing = _missing(group, members.get(key_of(group), ()))
        if missing:
            lacking.append(key_of(group))
            for name, amount in missing.items():
                total[name] = total.get(name, 0.0) + amount
    if not lacking:
        return []
    amounts = listed([amount_text(name, total[name]) for name in sorted(total)])
    their = "its" if len(lacking) == 1 else "their"
    return [
        f"{NOT_MODELLED}pods that controllers create later, such as the executors of Spark. The minResources"
        f" of {named(lacking, 'PodGroup')} request {amounts} more than {their} pods."
    ]


def _missing(group: Json, pods: Iterable[Json]) -> dict[str, float]:
    """Return what a PodGroup's minResources request more than its pods, by resource."""
    least = read_resource_list((group.get("spec") or {}).get("minResources") or {})
    held = [pod_request(pod.get("spec") or {}, default_requests=True) for pod in pods]
    missing = {name: least.get(name) - sum(one.get(name) for one in held) for name in least.names()}
    return {
        name: amount
        for name, amount in missing.items()
        if _is_of_pods(name) and amount > _NEGLIGIBLE * least.get(name)
    }


def _is_of_pods(name: str) -> bool:
    """Return whether pods request a resource; minResources may also count objects and limits."""
    return name in ("cpu", "memory") or (
        "/" in name and not name.startswith(("count/", "requests.", "limits."))
    )
