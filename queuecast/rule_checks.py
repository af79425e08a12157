"""The rules of a check: their comparisons and the facts that violate them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from planning.forecasts.clock import duration, moment_of, spelled
from planning.forecasts.costs import unit_of
from planning.forecasts.loops import eviction_loops
from planning.forecasts.losses import losses
from planning.forecasts.record import Record
from planning.forecasts.targets import target_verdicts
from planning.forecasts.verdict import late_text
from planning.suggestions import meant
from planning.units import compared_percents
from queuecast.outcome import Outcome
from scheduler_core import prepare
from scheduler_core.explain import podgroup_keys
from scheduler_core.quantity import milli_value, whole_value
from scheduler_core.queue_edits import MADE_BY_VOLCANO, below
from scheduler_core.release import release_named, release_of
from scheduler_core.units import compared_texts, named
from scheduler_core.upgrade import upgrade_impact
from scheduler_core.upgrade.report import causes_text
from traces.text import counted

Status = Literal["kept", "broken", "skipped"]


def parents_of(document: Mapping[str, Any]) -> dict[str, str]:
    """Return the parent of every queue of a document, those that Volcano makes included."""
    made = dict.fromkeys(MADE_BY_VOLCANO, "")
    return made | {
        queue["metadata"]["name"]: (queue.get("spec") or {}).get("parent") or ""
        for queue in document.get("queues") or ()
    }


def resources_of(document: Mapping[str, Any]) -> set[str]:
    """Return the resources of a document's nodes, and those of every node, malformed amounts left out."""
    statuses = (node.get("status") or {} for node in document.get("nodes") or ())
    amounts = (status.get("allocatable") or status.get("capacity") for status in statuses)
    return {"cpu", "memory", "pods"}.union(*(held for held in amounts if isinstance(held, Mapping)))


@dataclass(frozen=True)
class Compared:
    """The plan, with its outcome and that of the snapshot."""

    document: Mapping[str, Any]
    before: Outcome
    after: Outcome
    forecast: Record | None = None
    """The forecast of the plan under the check's workload; None without one."""

    @property
    def parents(self) -> dict[str, str]:
        """Return the parent of every queue of the plan."""
        return parents_of(self.document)

    def tree(self, queue: str) -> list[str]:
        """Return a queue and its descendants."""
        if queue == "root":
            return sorted(self.parents)
        return [queue, *below(queue, self.parents)]

    def podgroup(self, job: str) -> str:
        """Return the PodGroup of a vcjob named like the job; a PodGroup's own name is unchanged."""
        if job in self.after.ready:
            return job
        return next(podgroup_keys(self.document, job), job)


Result = tuple[Status, str]
KEPT: Result = ("kept", "")


def _no_victim_in(queue: str, outcomes: Compared) -> Result:
    tree = set(outcomes.tree(queue))
    return _unless([str(victim) for victim in outcomes.after.victims if victim.queue in tree])


def _max_evictions(limit: int, outcomes: Compared) -> Result:
    count = len(outcomes.after.victims)
    pods = len({victim.pod for victim in outcomes.after.victims})
    text = f"{pods} {'pod is' if pods == 1 else 'pods are'} evicted"
    if count > pods:
        text += f", {count} times in all"
    return _unless([text] if count > limit else [])


def _job_runs(job: str, outcomes: Compared) -> Result:
    group = outcomes.podgroup(job)
    if group not in outcomes.after.ready:
        return _unless([" ".join([f"no such job: {job}.", meant(job, outcomes.after.ready)]).strip()])
    return _unless([] if outcomes.after.ready[group] else [f"{job} waits"])


def _no_new_pending(_wanted: bool, outcomes: Compared) -> Result:
    return _unless(sorted(outcomes.after.pending - outcomes.before.pending))


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
    return _unless(short)


def _share_within(wanted: Mapping[str, Any], outcomes: Compared) -> Result:
    held = outcomes.after.queues.get(wanted["queue"])
    if held is None:
        return "skipped", _uncounted(wanted["queue"], outcomes)
    share, low, high = held["share"] or 0.0, wanted.get("min", 0), wanted.get("max", float("inf"))
    if low <= share <= high:
        return KEPT
    word, bound = ("less", low) if share < low else ("more", high)
    found, limit = compared_percents(share, bound)
    return _unless([f"the share is {found}, {word} than {limit}"])


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
        return _unless(facts)
    return "kept", f"simulated as {new.name}, the known release nearest to {name}"


NO_WORKLOAD: Result = "skipped", "no workload is named: queuecast check with --trace tests it"
FORECAST_RULES = ("wait_p95", "no_loop", "lost_hours_at_most")
"""Rules that need a forecast."""


def _wait_p95(wanted: Mapping[str, Any], outcomes: Compared) -> Result:
    if outcomes.forecast is None:
        return NO_WORKLOAD
    target = duration(wanted["at_most"])
    assert target is not None, "the schema accepts lengths of time only"
    (found,) = target_verdicts(outcomes.forecast, {wanted["queue"]: target})
    if found.status == "no_jobs":
        return "skipped", f"queue {found.queue} gets no job of the workload"
    if found.status == "met":
        return KEPT
    waits = found.waits
    assert waits.p95 is not None, "a queue with jobs has waits"
    if found.status == "open":
        waiting = waits.jobs - waits.started
        return "broken", f"it is open: {waiting:,} of {counted(waits.jobs, 'job')} had not started at the end"
    least = "" if waits.started == waits.jobs else "at least "
    late = f"{late_text(found)}, {found.job} first"
    return "broken", f"the 95th percentile is {least}{spelled(waits.p95)}; {late}"


def _no_loop(_wanted: bool, outcomes: Compared) -> Result:
    if outcomes.forecast is None:
        return NO_WORKLOAD
    return _unless(
        [
            f"{', '.join(loop.pods[:3])} of queue {loop.queue} every {spelled(loop.interval)},"
            f" {counted(loop.evictions, 'eviction')} from {moment_of(loop.begin, outcomes.forecast.begin)} on"
            for loop in eviction_loops(outcomes.forecast)
        ]
    )


def _lost_hours_at_most(wanted: Mapping[str, Any], outcomes: Compared) -> Result:
    if outcomes.forecast is None:
        return NO_WORKLOAD
    resource, queue = wanted.get("resource", "pods"), wanted.get("queue")
    lost: dict[str, float] = {}
    for loss in losses(outcomes.forecast):
        if queue in (None, loss.queue):
            seconds = (
                loss.pod_seconds
                if resource == "pods"
                else loss.resource_seconds.get(resource, 0.0) / unit_of(resource)
            )
            lost[loss.queue] = lost.get(loss.queue, 0.0) + seconds / 3600
    total = sum(lost.values())
    if total <= wanted["hours"]:
        return KEPT
    parts = ", ".join(f"{hours:,.2f} of {name}" for name, hours in sorted(lost.items()) if hours > 0)
    exact = f"{total:,.2f}" if round(total, 2) > wanted["hours"] else f"{total:,.9g}"
    return "broken", f"{exact} hours of {named(resource)} are lost: {parts}"


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
    "wait_p95": _wait_p95,
    "no_loop": _no_loop,
    "lost_hours_at_most": _lost_hours_at_most,
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


def _unless(facts: Sequence[str], most: int = 5) -> Result:
    """Return that a rule holds unless there are facts against it."""
    if not facts:
        return KEPT
    more = f" and {len(facts) - most} more" if len(facts) > most else ""
    return "broken", "; ".join(facts[:most]) + more
