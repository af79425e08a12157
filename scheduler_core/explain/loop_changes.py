"""Candidate changes that might end an eviction loop."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from scheduler_core.conf import DEFAULT_CONF
from scheduler_core.explain.changes import CONF, Change, Parts, applied, value_at
from scheduler_core.explain.cycle_view import CycleView, Object, items, key_of
from scheduler_core.explain.wording import listed
from scheduler_core.resource import CPU, MEMORY, PODS, Resource
from scheduler_core.resource_list import quantities, read_resource_list
from scheduler_core.units import amount_text

_UNITS: Mapping[str, int] = {CPU: 1000, MEMORY: 2**30}
_MOST_WEIGHT = 64
_PREEMPTABLE = "volcano.sh/preemptable"


@dataclass(frozen=True)
class Candidate:
    """A change in a number of steps, or in a single step if there is nothing to count.

    Attributes
    ----------
    changes, sentence : callable
        The changes for a number of steps, and their sentence.

    """

    largest: int
    changes: Callable[[int], list[Change]]
    sentence: Callable[[int], str]

    def parts(self, document: Object, steps: int) -> Parts:
        """Return the parts of the scenario that differ after a number of steps."""
        return applied(document, self.changes(steps))


def candidates(view: CycleView, loop: Mapping[str, Any]) -> Iterator[Candidate]:
    """Yield candidate changes that may end a loop, single numbers first."""
    losing = sorted({pod["queue"] for pod in loop["pods"]})
    gaining = sorted({view.queue_of_job(job) for job in loop["waiting"]} - set(losing))
    for queue in losing:
        yield from _deserved(view, loop, queue)
        yield from _weight(view, queue)
    for queue in gaining:
        yield from _priority(view, queue, losing)
    for queue in losing if gaining else ():
        yield from _not_reclaimable(view, queue)
    yield from _not_preemptable(view, loop)
    yield from _actions(view, loop)


def _queue(view: CycleView, name: str) -> Object | None:
    return next(
        (entry for entry in items(view.document, "queues") if entry["metadata"]["name"] == name), None
    )


def _deserved(view: CycleView, loop: Mapping[str, Any], name: str) -> Iterator[Candidate]:
    """Yield a deserved amount equal to what the queue has allocated before it loses pods."""
    queue = _queue(view, name)
    if queue is None or view.queue_plugin != "capacity":
        return
    stated: Mapping[str, Any] = value_at(queue, "spec.deserved") or {}
    before = read_resource_list(stated)
    holds: dict[str, float] = {}
    for cycle in range(loop["first_cycle"], loop["first_cycle"] + loop["period"]):
        figures = CycleView(view.document, view.result, cycle).queues("at_open").get(name) or {}
        for resource, amount in (figures.get("allocated") or {}).items():
            holds[resource] = max(holds.get(resource, 0.0), amount)
    freed = {resource for pod in loop["pods"] if pod["queue"] == name for resource in pod["request"]}
    for resource in sorted(freed - {PODS}):
        unit = _UNITS.get(resource, 1000)
        steps = math.ceil((holds.get(resource, 0.0) - before.get(resource)) / unit)
        if steps > 0:
            yield _raised(name, resource, unit, steps, stated, before)


def _raised(
    name: str, resource: str, unit: int, most: int, stated: Mapping[str, Any], before: Resource
) -> Candidate:
    def after(steps: int) -> float:
        return before.get(resource) + steps * unit

    def changes(steps: int) -> list[Change]:
        raised = before.clone()
        raised.set(resource, after(steps))
        value = {**stated, resource: quantities(raised)[resource]}
        return [Change("queues", name, "spec.deserved", stated or None, value)]

    return Candidate(
        most,
        changes,
        lambda steps: (
            f"deserved of queue {name}: {amount_text(resource, after(steps))} instead of "
            f"{amount_text(resource, before.get(resource))}"
        ),
    )


def _weight(view: CycleView, name: str) -> Iterator[Candidate]:
    queue = _queue(view, name)
    if queue is None or view.queue_plugin != "proportion":
        return
    stated = value_at(queue, "spec.weight")
    weight = int(stated or 1)
    yield Candidate(
        _MOST_WEIGHT,
        lambda steps: [Change("queues", name, "spec.weight", stated, weight + steps)],
        lambda steps: f"weight of queue {name}: {weight + steps} instead of {weight}",
    )


def _priority(view: CycleView, name: str, losing: list[str]) -> Iterator[Candidate]:
    """Yield a priority that puts the evicting queue before those that lose pods."""
    queue = _queue(view, name)
    if queue is None:
        return
    others = [value_at(entry, "spec.priority") or 0 for other in losing if (entry := _queue(view, other))]
    stated = value_at(queue, "spec.priority")
    priority = max((int(other) for other in others), default=0) + 1
    if int(stated or 0) >= priority:
        return
    yield Candidate(
        1,
        lambda _: [Change("queues", name, "spec.priority", stated, priority)],
        lambda _: f"priority of queue {name}: {priority} instead of {int(stated or 0)}",
    )


def _not_reclaimable(view: CycleView, name: str) -> Iterator[Candidate]:
    queue = _queue(view, name)
    if queue is not None:
        stated = value_at(queue, "spec.reclaimable")
        yield Candidate(
            1,
            lambda _: [Change("queues", name, "spec.reclaimable", stated, False)],
            lambda _: f"queue {name} not reclaimable",
        )


def _not_preemptable(view: CycleView, loop: Mapping[str, Any]) -> Iterator[Candidate]:
    """Yield the change that makes the pods of the loop not preemptable."""
    names = [pod["pod"] for pod in loop["pods"]]
    given = {key_of(entry): entry for entry in items(view.document, "pods")}
    if not all(name in given for name in names):
        return

    def changes(_: int) -> list[Change]:
        found = []
        for name in names:
            annotations = value_at(given[name], "metadata.annotations")
            marked = {**(annotations or {}), _PREEMPTABLE: "false"}
            found.append(Change("pods", name, "metadata.annotations", annotations, marked))
        return found

    yield Candidate(1, changes, lambda _: f'annotation {_PREEMPTABLE}: "false" on {listed(names)}')


def _actions(view: CycleView, loop: Mapping[str, Any]) -> Iterator[Candidate]:
    """Yield, for each action that evicts in the loop, the actions without it."""
    conf: Mapping[str, Any] = view.document.get("scheduler_conf") or DEFAULT_CONF
    reasons = [entry["numbers"] for entry in loop["why"]]
    for action in sorted({numbers["action"] for numbers in reasons if "action" in numbers}):
        left = ", ".join(name for name in view.actions if name != action)
        if left:
            yield _without(conf, action, left)


def _without(conf: Mapping[str, Any], action: str, left: str) -> Candidate:
    change = Change(CONF, "", "", dict(conf), {**conf, "actions": left})
    return Candidate(1, lambda _: [change], lambda _: f"action {action} left out")
