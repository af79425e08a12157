"""Does an outcome keep the rules that a team wrote down?"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from queuecast.outcome import Outcome
from queuecast.plans import Refused
from scheduler_core.quantity import milli_value, whole_value


@dataclass(frozen=True)
class Verdict:
    """One rule, whether it holds, and the facts when it does not."""

    rule: str
    why: str = ""

    @property
    def holds(self) -> bool:
        """Is there nothing to say against it?"""
        return not self.why


@dataclass(frozen=True)
class Compared:
    """The outcome under the changes beside that of the snapshot as it is."""

    before: Outcome
    after: Outcome


def judged(rules: Any, outcomes: Compared) -> list[Verdict]:
    """Return a verdict for each rule in order, or raise Refused when one cannot be understood."""
    if not isinstance(rules, list) or not rules:
        raise Refused(["The rules must be a list, such as `- no_new_pending: true`."])
    verdicts = []
    for number, rule in enumerate(rules, start=1):
        if not isinstance(rule, Mapping) or len(rule) != 1 or next(iter(rule)) not in RULES:
            raise Refused([f"Rule {number}: use one of {', '.join(RULES)}, with a value."])
        ((name, wanted),) = rule.items()
        try:
            verdicts.append(Verdict(f"{name}: {_shown(wanted)}", RULES[name](wanted, outcomes)))
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise Refused([f"Rule {number}, {name}: {error!s} is missing or invalid."]) from None
    return verdicts


def _no_victim_in(queue: str, outcomes: Compared) -> str:
    _known(queue, outcomes)
    return _listed([str(victim) for victim in outcomes.after.victims if victim.queue == queue])


def _max_evictions(limit: int, outcomes: Compared) -> str:
    count = len(outcomes.after.victims)
    return f"{count} pods are evicted" if count > int(limit) else ""


def _job_runs(job: str, outcomes: Compared) -> str:
    if job not in outcomes.after.ready:
        return f"no such job: {job}"
    return "" if outcomes.after.ready[job] else f"{job} waits"


def _no_new_pending(wanted: bool, outcomes: Compared) -> str:
    return _listed(sorted(outcomes.after.pending - outcomes.before.pending)) if wanted else ""


def _deserved_at_least(wanted: Mapping[str, Any], outcomes: Compared) -> str:
    queue = _known(wanted["queue"], outcomes)
    short = []
    for resource, quantity in wanted["resources"].items():
        least = whole_value(str(quantity)) if resource in ("memory", "pods") else milli_value(str(quantity))
        deserved = queue["deserved"].get(resource, 0)
        if deserved < least:
            short.append(f"{resource}: {deserved:g} of {least:g} {_unit(resource)}")
    return _listed(short)


def _share_within(wanted: Mapping[str, Any], outcomes: Compared) -> str:
    share = _known(wanted["queue"], outcomes)["share"]
    low, high = float(wanted.get("min", 0)), float(wanted.get("max", "inf"))
    return "" if low <= share <= high else f"the share is {share:.3f}"


RULES: Mapping[str, Callable[[Any, Compared], str]] = {
    "no_victim_in": _no_victim_in,
    "max_evictions": _max_evictions,
    "job_runs": _job_runs,
    "no_new_pending": _no_new_pending,
    "deserved_at_least": _deserved_at_least,
    "share_within": _share_within,
}
"""Each answers what stands against it; an empty answer: nothing."""


def _known(name: str, outcomes: Compared) -> Mapping[str, Any]:
    if name not in outcomes.after.queues:
        raise ValueError(f"queue {name!r}")
    return outcomes.after.queues[name]


def _unit(resource: str) -> str:
    return {"cpu": "millicores", "memory": "bytes", "pods": "pods"}.get(resource, "milliunits")


def _listed(facts: Sequence[str], most: int = 5) -> str:
    more = f" and {len(facts) - most} more" if len(facts) > most else ""
    return "; ".join(facts[:most]) + more


def _shown(wanted: Any) -> str:
    if isinstance(wanted, Mapping):
        return ", ".join(f"{key} {_shown(inner)}" for key, inner in wanted.items())
    return str(wanted).lower() if isinstance(wanted, bool) else str(wanted)
