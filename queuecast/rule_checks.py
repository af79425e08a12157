"""The rules of a check: their comparisons and the facts that violate them."""

from collections.abc import Callable, Mapping
from typing import Any

from planning.suggestions import meant
from planning.units import compared_percents
from queuecast.compared import KEPT, Compared, Result, unless
from queuecast.forecast_rules import FORECAST_RULES
from scheduler_core import prepare
from scheduler_core.quantity import milli_value, whole_value
from scheduler_core.release import release_named, release_of
from scheduler_core.units import compared_texts
from scheduler_core.upgrade import upgrade_impact
from scheduler_core.upgrade.report import causes_text


def resources_of(document: Mapping[str, Any]) -> set[str]:
    """Return the resources of a document's nodes, and those of every node, malformed amounts left out."""
    statuses = (node.get("status") or {} for node in document.get("nodes") or ())
    amounts = (status.get("allocatable") or status.get("capacity") for status in statuses)
    return {"cpu", "memory", "pods"}.union(*(held for held in amounts if isinstance(held, Mapping)))


def _no_victim_in(queue: str, outcomes: Compared) -> Result:
    tree = set(outcomes.tree(queue))
    return unless([str(victim) for victim in outcomes.after.victims if victim.queue in tree])


def _max_evictions(limit: int, outcomes: Compared) -> Result:
    count = len(outcomes.after.victims)
    pods = len({victim.pod for victim in outcomes.after.victims})
    text = f"{pods} {'pod is' if pods == 1 else 'pods are'} evicted"
    if count > pods:
        text += f", {count} times in all"
    return unless([text] if count > limit else [])


def _job_runs(job: str, outcomes: Compared) -> Result:
    group = outcomes.podgroup(job)
    if group not in outcomes.after.ready:
        return unless([" ".join([f"no such job: {job}.", meant(job, outcomes.after.ready)]).strip()])
    return unless([] if outcomes.after.ready[group] else [f"{job} waits"])


def _no_new_pending(_wanted: bool, outcomes: Compared) -> Result:
    return unless(sorted(outcomes.after.pending - outcomes.before.pending))


def _deserved_at_least(wanted: Mapping[str, Any], outcomes: Compared) -> Result:
    deserved = _deserved(wanted["queue"], outcomes)
    if deserved is None:
        return "skipped", _uncounted(wanted["queue"], outcomes)
    short = []
    for resource, quantity in wanted["resources"].items():
        least = _amount(resource, quantity)
        if deserved.get(resource, 0) < least:
            present, limit = compared_texts(resource, deserved.get(resource, 0), least)
            short.append(f"deserves {present}, less than {limit}")
    return unless(short)


def _share_within(wanted: Mapping[str, Any], outcomes: Compared) -> Result:
    held = outcomes.after.queues.get(wanted["queue"])
    if held is None:
        return "skipped", _uncounted(wanted["queue"], outcomes)
    share, low, high = held["share"] or 0.0, wanted.get("min", 0), wanted.get("max", float("inf"))
    if low <= share <= high:
        return KEPT
    word, bound = ("less", low) if share < low else ("more", high)
    found, limit = compared_percents(share, bound)
    return unless([f"the share is {found}, {word} than {limit}"])


def _upgrade_keeps(name: str, outcomes: Compared) -> Result:
    new = release_named(name)
    assert new is not None, "the schema accepts versions only"
    impact = upgrade_impact(prepare(outcomes.document), release_of(outcomes.document), new)
    facts = [
        f"{found.item.kind} {found.item.name}: {found.item.what} {_fact(found.old)} -> {_fact(found.new)}"
        f" ({causes_text(found)})"
        for found in impact.differences
        if found.item.kind != "queue" and not found.item.what.endswith("evicted for")
    ]
    if facts or new.name == f"v{name.removeprefix('v')}":
        return unless(facts)
    return "kept", f"simulated as {new.name}, the known release nearest to {name}"


def _fact(value: Any) -> str:
    return "none" if value is None else str(value)


RULES: Mapping[str, Callable[[Any, Compared], Result]] = {
    "no_victim_in": _no_victim_in,
    "max_evictions": _max_evictions,
    "job_runs": _job_runs,
    "no_new_pending": _no_new_pending,
    "deserved_at_least": _deserved_at_least,
    "share_within": _share_within,
    "upgrade_keeps": _upgrade_keeps,
    **FORECAST_RULES,
}
"""Each returns whether it holds, and the facts against it."""


def _deserved(queue: str, outcomes: Compared) -> Mapping[str, float] | None:
    """Return the deserved amount of a queue, summed over its descendants if no session calculates it."""
    counted = outcomes.after.queues
    if queue in counted:
        return dict(counted[queue]["deserved"])
    parts = [counted[name]["deserved"] for name in outcomes.tree(queue) if name in counted]
    if not parts:
        return None
    total: dict[str, float] = {}
    for part in parts:
        for resource, amount in part.items():
            total[resource] = total.get(resource, 0) + amount
    return total


def _uncounted(queue: str, outcomes: Compared) -> str:
    """Return why the scheduler computes nothing for a queue."""
    if not outcomes.after.queues:
        return "no plugin computes deserved and share of queues: add proportion or capacity"
    return f"queue {queue} has no podgroups: the scheduler computes neither deserved nor share for it"


def _amount(resource: str, quantity: Any) -> float:
    return float((whole_value if resource in ("memory", "pods") else milli_value)(str(quantity)))
