"""The effects of a plan: changes, their problems, and the outcome before and after."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import manifests
from manifests.differences import differences, leaves
from planning.documents import clock_of
from planning.forecasts.record import Record
from queuecast.compared import Compared
from queuecast.core import introduced, simulate
from queuecast.exported import exported
from queuecast.outcome import Outcome, Victim
from queuecast.problems import Json, errors_of, problem
from queuecast.rules import Verdict
from queuecast.shown import figures

Place = Callable[[Mapping[str, Any]], Json]
"""Adds file and line to a problem."""

_NOT_COMPARED = ("apiVersion", "kind", "metadata.creationTimestamp")
"""Keys of a manifest that an object of a document may lack, or that only the cluster sets."""
_EMPTY: tuple[Any, ...] = (None, {}, [])
_QUEUE = ("deserved", "allocated", "share")


@dataclass(frozen=True)
class Effects:
    """A plan compared with the present state."""

    before: Mapping[str, Any]
    after: Mapping[str, Any]
    outcomes: Compared

    @classmethod
    def of(cls, before: Mapping[str, Any], after: Mapping[str, Any]) -> "Effects":
        """Simulate both, or raise Refused with every problem of the plan."""
        return cls.known(before, after, simulate(after))

    @classmethod
    def known(
        cls, before: Mapping[str, Any], after: Mapping[str, Any], result: Mapping[str, Any]
    ) -> "Effects":
        """Use the plan's given result, and simulate only the base, at the same time."""
        cycles = {"cycles": after["cycles"]} if "cycles" in after else {}
        now = {"now": clock} if (clock := clock_of(after)) else {}
        base = {**before, **cycles, **now}
        outcomes = Compared(after, Outcome.of(simulate(base), base), Outcome.of(result, after))
        return cls(before, after, outcomes)

    def with_forecasts(self, plan: Record, before: Record | None) -> "Effects":
        """Return the effect with a forecast of the plan, for rules about forecasts, and of the snapshot."""
        return replace(self, outcomes=replace(self.outcomes, forecast=plan, forecast_before=before))

    def report(
        self,
        verdicts: Sequence[Verdict] = (),
        place: Place = lambda one: problem(**one),
        refused: Sequence[Json] = (),
    ) -> Json:
        """Return the effect as one JSON object, from which every format of a report is made.

        `refused` are the problems of updates that the cluster refuses, besides those of queues.
        """
        found = [place(one) for one in (*refused, *introduced(self.before, self.after))]
        export = exported(self.before, self.after)
        known = {(one["rule"], one["queue"]) for one in found}
        impossible = [one for one in export["impossible"] if (one["rule"], one["queue"]) not in known]
        problems = [*found, *map(place, impossible)]
        broken = any(not verdict.holds for verdict in verdicts) or bool(errors_of(problems))
        return {
            "passed": not broken,
            "rules": [{"rule": one.rule, "status": one.status, "why": one.why or None} for one in verdicts],
            "problems": problems,
            "changes": changes(self.before, self.after),
            "steps": export["steps"],
            "deletions": export["deletions"],
            "states": export["states"],
            "queues": list(self._queues()),
            "victims": list(self._victims()),
            "waiting": list(self._waiting()),
            "loops": list(self.outcomes.after.loops),
            "notes": list(dict.fromkeys((*self.outcomes.after.notes, *self._forecast_notes()))),
        }

    def _forecast_notes(self) -> Sequence[str]:
        return () if self.outcomes.forecast is None else self.outcomes.forecast.notes

    def _queues(self) -> Iterator[Json]:
        """Yield the queues whose figures differ, with those at the end of the plan and of the snapshot."""
        before, after = self.outcomes.before.queues, self.outcomes.after.queues
        for name in sorted({*before, *after}):
            sides = [held.get(name) for held in (before, after)]
            if _figures_of(sides[0]) != _figures_of(sides[1]):
                yield {
                    "queue": name,
                    **{
                        part: {
                            side: _figure(held, part)
                            for side, held in zip(("before", "after"), sides, strict=True)
                        }
                        for part in _QUEUE
                    },
                }

    def _victims(self) -> Iterator[Json]:
        """Yield the evictions of both, each with its side."""
        before = {victim.pod: victim for victim in self.outcomes.before.victims}
        after = {victim.pod: victim for victim in self.outcomes.after.victims}
        for pod in sorted({*before, *after}):
            victim = after.get(pod) or before[pod]
            yield {**_victim(victim), "evicted": _side(pod in before, pod in after)}

    def _waiting(self) -> Iterator[Json]:
        before, after = self.outcomes.before.jobs, self.outcomes.after.jobs
        for name in sorted({*before, *after}):
            was, now = (held.get(name, {}) for held in (before, after))
            if was.get("waits") or now.get("waits"):
                yield {
                    "job": name, "queue": (now or was)["queue"],
                    "pending_before": was.get("pending", 0), "pending_after": now.get("pending", 0),
                    "message": now.get("message", ""),
                }  # fmt: skip


def changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[Json]:
    """Return the differences between two documents: kind, name, field, before, after.

    An empty part of a queue is like none: a server does not keep it.
    """
    found: list[Json] = []
    for one in differences([manifests.resolve(before), manifests.resolve(after)]):
        if one.kind == "scheduler_conf":
            found += _conf_changes(*one.values)
        elif one.field not in _NOT_COMPARED:
            was, now = one.values
            if one.kind == "queues" and was in _EMPTY and now in _EMPTY:
                continue
            found.append(
                {"kind": one.kind, "name": one.name, "field": one.field, "before": was, "after": now}
            )
    return found


def _conf_changes(before: Any, after: Any) -> Iterator[Json]:
    """Yield the differences of the configuration, by value."""
    sides = [{} if conf is None else dict(leaves(_as_mappings(conf))) for conf in (before, after)]
    for field in dict.fromkeys(field for side in sides for field in side):
        was, now = (side.get(field) for side in sides)
        if was != now:
            yield {"kind": "conf", "name": "", "field": field, "before": was, "after": now}


def _as_mappings(value: Any) -> Any:
    """Return lists as mappings, so that each entry has a path by its name or its index."""
    if isinstance(value, Mapping):
        return {key: _as_mappings(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return {
            str((inner.get("name") if isinstance(inner, Mapping) else None) or number): _as_mappings(inner)
            for number, inner in enumerate(value, 1)
        }
    return value


def _side(before: bool, after: bool) -> str:
    return "both" if before and after else "after" if after else "before"


def _victim(victim: Victim) -> Json:
    return {"pod": victim.pod, "queue": victim.queue, "for_pod": victim.for_pod}


def _figures_of(held: Mapping[str, Any] | None) -> Any:
    return held and [held.get(part) for part in _QUEUE]


def _figure(held: Mapping[str, Any] | None, part: str) -> Any:
    if held is None:
        return None
    return held[part] if part == "share" else figures(held[part])
