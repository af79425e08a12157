"""What does a queue, the cluster or a quota lack for a job, and for whom is it reserved?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from scheduler_core.explain.picture import Picture
from scheduler_core.explain.reasons import Reason, reason
from scheduler_core.explain.wording import counted, listed, named, said
from scheduler_core.resource import MIN_RESOURCE

Told = Mapping[str, Any]


def not_enqueued(picture: Picture, job: str, told: Told) -> Reason:
    """Return that a job was not enqueued, what its limit is, and what is in use and reserved below it."""
    resource, facts, others = _first(told)
    text = f"Job {job} was not enqueued: {_limit(picture, told, resource, facts)}{others}."
    return reason("gate.enqueue", text, _numbers(picture, told))


def queue_full(picture: Picture, name: str, stage: str, told: Told) -> Reason:
    """Return that a queue may take no more of something."""
    resource, facts, others = _first(told)
    numbers = {key: told[key] for key in ("queue", "resource", "required", "available", "missing", "short")}
    return reason(name, f"{stage}: {_full(picture, told, resource, facts)}{others}.", numbers)


def _first(told: Told) -> tuple[str, Mapping[str, float], str]:
    """Return the first resource that is short with its numbers, and the others as the end of a sentence."""
    short: Mapping[str, Mapping[str, float]] = told.get("short") or {told["resource"]: told}
    (resource, facts), *others = short.items()
    missing = listed([said(name, more["missing"]) for name, more in others])
    return (
        resource,
        facts,
        f"; {missing} {'is' if len(others) == 1 else 'are'} missing as well" if others else "",
    )


def _numbers(picture: Picture, told: Told) -> dict[str, Any]:
    kept = ("resource", "required", "available", "missing", "short", "limit", "reserved")
    numbers = {key: told[key] for key in kept if key in told}
    holders = {
        name: [{**holder, "waits": _waits(picture, holder["job"])} for holder in reserved["largest"]]
        for name, reserved in (told.get("reserved_for") or {}).items()
    }
    return {"queue": told.get("queue", ""), **numbers, "reserved_for": holders}


def _full(picture: Picture, told: Told, resource: str, facts: Mapping[str, float]) -> str:
    queue, limit = told["queue"], told["limit"][resource]
    verb = "deserves" if told.get("bound") == "deserved" else "may hold"
    asks = "the pod requests" if told.get("pod") else "its pods request"
    asked = f"{asks} {said(resource, facts['required'])}"
    if not _is_offered(picture, resource):
        return f"no node offers {named(resource)}; {asked}"
    if limit <= 0:
        return f"queue {queue} {verb} no {named(resource)}; {asked}"
    allocated = said(resource, limit - facts["available"])
    end = f", {said(resource, facts['missing'])} more than is left" if facts["available"] > 0 else ""
    already = " already" if facts["available"] < 0 else ""
    return (
        f"queue {queue} {verb} {said(resource, limit)} and has {allocated} allocated{already}; {asked}{end}"
    )


def _is_offered(picture: Picture, resource: str) -> bool:
    total: Mapping[str, float] = picture.told["at_open"]["total_resource"]
    return total.get(resource, 0.0) > 0.0


def _limit(picture: Picture, told: Told, resource: str, facts: Mapping[str, float]) -> str:
    """Return what limits the reservations of one resource, what is left, and what the job requests."""
    asked = f"its minResources are {said(resource, facts['required'])}"
    available, limit = facts["available"], told["limit"][resource]
    if not _is_offered(picture, resource) and not told.get("quota"):
        return f"no node offers {named(resource)}; {asked}"
    taken = _taken(picture, told, resource, facts)
    if available < 0:
        over = f"exceeds {_whose(told, resource, limit)} by {said(resource, -available)}"
        return f"what is in use and reserved {over}{f' ({taken})' if taken else ''}; {asked}"
    if told.get("quota"):
        head = f"ResourceQuota {told['quota']} allows {said(resource, limit)}"
    elif "factor" in told:
        head = f"{_whose(told, resource, limit)} leaves room for {said(resource, available)}"
        return f"{head}{f' ({taken})' if taken else ''}; {asked}"
    else:
        head = f"queue {told['queue']} may hold {said(resource, limit)}"
    left = f"{said(resource, available)} left" if available > 0 else "nothing left"
    return f"{head}: {taken}, {left}; {asked}" if taken else f"{head}; {asked}"


def _whose(told: Told, resource: str, limit: float) -> str:
    if told.get("quota"):
        return f"ResourceQuota {told['quota']} ({said(resource, limit)})"
    if "factor" in told:
        factor = told["factor"]
        part = "all of" if factor == 1 else f"{factor:g} times"
        return f"the overcommit limit of {said(resource, limit)} ({part} the cluster)"
    return f"the {said(resource, limit)} that queue {told['queue']} may hold"


def _taken(picture: Picture, told: Told, resource: str, facts: Mapping[str, float]) -> str:
    """Return how much of a limit is in use and how much is reserved, and for whom."""
    if "reserved" not in told:
        return ""
    reserved = told["reserved"].get(resource, 0.0)
    used = told["limit"][resource] - facts["available"] - reserved
    parts = [f"{said(resource, used)} in use"] if used >= MIN_RESOURCE else []
    if reserved >= MIN_RESOURCE:
        holders = told["reserved_for"].get(resource) or {"largest": [], "holders": 0}
        parts.append(
            f"{said(resource, reserved)} reserved for {listed(_holders(picture, resource, holders))}"
        )
    return ", ".join(parts)


def _holders(picture: Picture, resource: str, reserved: Mapping[str, Any]) -> Iterator[str]:
    """Yield for whom something is reserved, why these jobs do not run, and how many others there are."""
    few = reserved["largest"] if reserved["holders"] <= _NAMED else reserved["largest"][:1]
    for holder in few:
        why = _waits(picture, holder["job"])
        if reserved["holders"] == 1:
            yield f"{holder['job']}, which was enqueued and {why}" if why else holder["job"]
        else:
            amount = said(resource, holder["reserved"])
            yield f"{holder['job']} ({amount}{f'; it {why}' if why else ''})"
    more = reserved["holders"] - len(few)
    if more:
        yield counted(more, "other job")


def _waits(picture: Picture, job: str) -> str:
    """Return why a job for which something is reserved does not run, empty when it has its minimum."""
    entry = picture.jobs.get(job)
    if entry is None or entry["session_job_ready"]:
        return ""
    told = picture.explain.get("pending", {}).get(job) or {}
    return _STANDS.get(told.get("gate", ""), "waits")


_STANDS = {
    "node": "fits no node",
    "queue": "finds its queue full",
    "gang": "has too few pods",
    "schedulingGate": "has scheduling gates",
    "promised": "is pipelined",
    "overused": "finds its queue overused",
}
_NAMED = 2
