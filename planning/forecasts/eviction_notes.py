"""Notes on what a forecast assumes of evicted pods."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from planning.documents import items
from planning.forecasts.estimate import EVICTING
from planning.forecasts.run_times import RunTime
from scheduler_core.model.run_annotations import CHECKPOINT_SECONDS
from traces.kubernetes import key_of, owning_jobs

Json = Mapping[str, Any]

_FROM_ZERO = ("restart", "restart-job", "owner")
"""What happens to evicted pods, where they have only what a checkpoint saved."""


def eviction_notes(document: Json, known: Sequence[RunTime]) -> list[str]:
    """Return what is assumed of evicted pods, as notes of a result; none if nothing can be evicted.

    Parameters
    ----------
    document : mapping
        The document of the replay.
    known : sequence of RunTime
        The jobs of the snapshot that have not finished.

    """
    confs = [document, *document["replay"]["events"]]
    has_jobs = bool(known) or any("podgroups" in event.get("create", {}) for event in confs[1:])
    if not has_jobs or not any(_evicts(one.get("scheduler_conf")) for one in confs):
        return []
    return [*_checkpoint_notes(document), *_gang_notes(document, known)]


def _evicts(conf: Any) -> bool:
    actions = conf.get("actions") if isinstance(conf, Mapping) else None
    return not EVICTING.isdisjoint(re.split(r"[,\s]+", str(actions or "")))


def _checkpoint_notes(document: Json) -> list[str]:
    replay = document["replay"]
    if replay.get("evicted", "restart") not in _FROM_ZERO or replay.get("checkpoint_seconds"):
        return []
    things = (thing for kind in ("podgroups", "pods") for thing in items(document.get(kind)))
    some = any(CHECKPOINT_SECONDS in (thing["metadata"].get("annotations") or {}) for thing in things)
    but = " except those with an annotation" if some else ""
    return [
        f"Assumed: pods make no checkpoints{but}. Evicted pods, and those of a Job that restarts, lose all"
        " that they have run."
    ]


def _gang_notes(document: Json, known: Sequence[RunTime]) -> list[str]:
    """Return what becomes of a gang that loses a pod, if there are gangs."""
    replay = document["replay"]
    if replay.get("evicted", "restart") not in ("restart", "resume"):
        return []
    created = (group for event in replay["events"] for group in event.get("create", {}).get("podgroups", ()))
    unfinished = {one.job for one in known}
    there = (group for group in items(document.get("podgroups")) if key_of(group) in unfinished)
    gangs = sum(map(_is_gang, [*there, *created]))
    if not gangs:
        return []
    which = "the only gang" if gangs == 1 else f"one of {gangs:,} gangs"
    return [
        f"Assumed: if a pod of {which} is evicted, only this pod starts again and the others run on. Where"
        " they cannot, let evicted pods restart with their whole job (restart-job)."
    ]


def _is_gang(group: Json) -> bool:
    """Return whether a PodGroup needs several pods and no Job controls them, whose policies would apply."""
    return not any(owning_jobs(group)) and int((group.get("spec") or {}).get("minMember") or 0) > 1
