"""Refusals by a queue, the cluster or a quota: what is missing, and the jobs for which it is reserved."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from scheduler_core.explain.cycle_view import CycleView
from scheduler_core.explain.reasons import Reason, reason
from scheduler_core.explain.wording import counted, listed
from scheduler_core.resource import MIN_RESOURCE
from scheduler_core.units import amount_text, named

Refusal = Mapping[str, Any]


def not_enqueued(view: CycleView, job: str, refusal: Refusal) -> Reason:
    """Return the reason that a job was not enqueued: the limit, and what is in use and reserved."""
    resource, facts, others = _first(refusal)
    text = f"Job {job} was not enqueued: {_limit(view, refusal, resource, facts)}{others}."
    return reason("gate.enqueue", text, _numbers(view, refusal))


def queue_full(view: CycleView, name: str, stage: str, refusal: Refusal) -> Reason:
    """Return the reason that a queue has reached its limit for a resource."""
    resource, facts, others = _first(refusal)
    numbers = {
        key: refusal[key] for key in ("queue", "resource", "required", "available", "missing", "short")
    }
    return reason(name, f"{stage}: {_full(view, refusal, resource, facts)}{others}.", numbers)


def _first(refusal: Refusal) -> tuple[str, Mapping[str, float], str]:
    """Return the first missing resource with its numbers, and the others as a clause."""
    short: Mapping[str, Mapping[str, float]] = refusal.get("short") or {refusal["resource"]: refusal}
    (resource, facts), *others = short.items()
    missing = listed([amount_text(name, more["missing"]) for name, more in others])
    return (
        resource,
        facts,
        f"; {missing} {'is' if len(others) == 1 else 'are'} missing as well" if others else "",
    )


def _numbers(view: CycleView, refusal: Refusal) -> dict[str, Any]:
    kept = ("resource", "required", "available", "missing", "short", "limit", "reserved")
    numbers = {key: refusal[key] for key in kept if key in refusal}
    holders = {
        name: [{**holder, "waits": _waits(view, holder["job"])} for holder in reserved["largest"]]
        for name, reserved in (refusal.get("reserved_for") or {}).items()
    }
    return {"queue": refusal.get("queue", ""), **numbers, "reserved_for": holders}


def _full(view: CycleView, refusal: Refusal, resource: str, facts: Mapping[str, float]) -> str:
    queue, limit = refusal["queue"], refusal["limit"][resource]
    verb = "deserves" if refusal.get("bound") == "deserved" else "may hold"
    asks = "the pod requests" if refusal.get("pod") else "its pods request"
    requests = f"{asks} {amount_text(resource, facts['required'])}"
    if not _is_offered(view, resource):
        return f"no node offers {named(resource)}; {requests}"
    if limit <= 0:
        return f"queue {queue} {verb} no {named(resource)}; {requests}"
    allocated = amount_text(resource, limit - facts["available"])
    end = f", {amount_text(resource, facts['missing'])} more than is left" if facts["available"] > 0 else ""
    already = " already" if facts["available"] < 0 else ""
    usage = f"{verb} {amount_text(resource, limit)} and has {allocated} allocated{already}"
    return f"queue {queue} {usage}; {requests}{end}"


def _is_offered(view: CycleView, resource: str) -> bool:
    total: Mapping[str, float] = view.cycle["at_open"]["total_resource"]
    return total.get(resource, 0.0) > 0.0


def _limit(view: CycleView, refusal: Refusal, resource: str, facts: Mapping[str, float]) -> str:
    """Return the limit on reservations of one resource, the rest of it, and the job's request."""
    requests = f"its minResources are {amount_text(resource, facts['required'])}"
    available, limit = facts["available"], refusal["limit"][resource]
    if not _is_offered(view, resource) and not refusal.get("quota"):
        return f"no node offers {named(resource)}; {requests}"
    taken = _taken(view, refusal, resource, facts)
    if available < 0:
        over = f"exceeds {_whose(refusal, resource, limit)} by {amount_text(resource, -available)}"
        return f"what is in use and reserved {over}{f' ({taken})' if taken else ''}; {requests}"
    if refusal.get("quota"):
        head = f"ResourceQuota {refusal['quota']} allows {amount_text(resource, limit)}"
    elif "factor" in refusal:
        head = f"{_whose(refusal, resource, limit)} leaves room for {amount_text(resource, available)}"
        return f"{head}{f' ({taken})' if taken else ''}; {requests}"
    else:
        head = f"queue {refusal['queue']} may hold {amount_text(resource, limit)}"
    left = f"{amount_text(resource, available)} left" if available > 0 else "nothing left"
    return f"{head}: {taken}, {left}; {requests}" if taken else f"{head}; {requests}"


def _whose(refusal: Refusal, resource: str, limit: float) -> str:
    if refusal.get("quota"):
        return f"ResourceQuota {refusal['quota']} ({amount_text(resource, limit)})"
    if "factor" in refusal:
        factor = refusal["factor"]
        part = "all of" if factor == 1 else f"{factor:g} times"
        return f"the overcommit limit of {amount_text(resource, limit)} ({part} the cluster)"
    return f"the {amount_text(resource, limit)} that queue {refusal['queue']} may hold"


def _taken(view: CycleView, refusal: Refusal, resource: str, facts: Mapping[str, float]) -> str:
    """Return how much of a limit is in use, and how much is reserved for which jobs.

    What a queue has above the minMembers of its jobs does not count.
    """
    if "reserved" not in refusal:
        return ""
    reserved = refusal["reserved"].get(resource, 0.0)
    elastic = (refusal.get("elastic") or {}).get(resource, 0.0)
    used = refusal["limit"][resource] - facts["available"] - reserved + elastic
    less = f" less {amount_text(resource, elastic)} above minMember" if elastic >= MIN_RESOURCE else ""
    parts = [f"{amount_text(resource, used)} in use{less}"] if used >= MIN_RESOURCE else []
    if reserved >= MIN_RESOURCE:
        holders = refusal["reserved_for"].get(resource) or {"largest": [], "holders": 0}
        parts.append(
            f"{amount_text(resource, reserved)} reserved for {listed(_holders(view, resource, holders))}"
        )
    return ", ".join(parts)


def _holders(view: CycleView, resource: str, reserved: Mapping[str, Any]) -> Iterator[str]:
    """Yield the jobs with a reservation and why they do not run, and the number of further jobs."""
    few = reserved["largest"] if reserved["holders"] <= _NAMED else reserved["largest"][:1]
    for holder in few:
        why = _waits(view, holder["job"])
        if reserved["holders"] == 1:
            yield f"{holder['job']}, which was enqueued and {why}" if why else holder["job"]
        else:
            amount = amount_text(resource, holder["reserved"])
            yield f"{holder['job']} ({amount}{f'; it {why}' if why else ''})"
    more = reserved["holders"] - len(few)
    if more:
        yield counted(more, "other job")


def _waits(view: CycleView, job: str) -> str:
    """Return why a job with a reservation does not run, empty if it has its minimum."""
    entry = view.jobs.get(job)
    if entry is None or entry["session_job_ready"]:
        return ""
    refusal = view.explain.get("pending", {}).get(job) or {}
    return _STANDS.get(refusal.get("gate", ""), "waits")


_STANDS = {
    "node": "fits no node",
    "queue": "finds its queue full",
    "gang": "has too few pods",
    "schedulingGate": "has scheduling gates",
    "promised": "is pipelined",
    "overused": "finds its queue overused",
}
_NAMED = 2
