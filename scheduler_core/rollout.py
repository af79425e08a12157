"""Rollouts: the steps from one tree of queues to another, each accepted by the webhook.

Queues are first tried in their final form. If none of the remaining ones is accepted, one is written
half-way: with the larger amounts of before and after, else with the smaller ones, finally with none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from scheduler_core.admission_rules import QueueAdmission, WebhookOptions, as_created
from scheduler_core.admission_rules.written import PARTS, Object, written
from scheduler_core.model.queue import ROOT
from scheduler_core.problem import Problem
from scheduler_core.queue_defaults import queues_of_volcano
from scheduler_core.rollout_forms import (
    bare,
    content_of,
    larger,
    removed_fields,
    smaller,
    with_amounts,
)

Form = Callable[[Object, Object], Object]

DEFAULTS = WebhookOptions()
_ROOT_STAYS_OPEN = Problem(
    "queue.root_closed",
    "error",
    "status.state",
    "queue root: status.state: Volcano does not close root",
    ROOT,
    "status.state",
    "Closed",
    fix="close its children instead",
)


@dataclass(frozen=True)
class Step:
    """One write; `halfway` if a later write brings the queue to its final form.

    Attributes
    ----------
    queue : mapping
        The Queue object without its status; for a deletion, the object before it.
    removes : tuple of str
        The paths of the fields that an update removes, such as `spec.capability.cpu`.

    """

    verb: Literal["create", "update", "delete"]
    name: str
    queue: Object
    halfway: bool = False
    removes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Rollout:
    """The steps from one tree to another.

    Attributes
    ----------
    steps : list of Step
        Creations and updates, in an order that the webhook accepts.
    deletions : list of Step
        The deletions afterwards, children first.
    states : dict
        Queues to open or close, by a command instead of a manifest.
    impossible : list of Problem
        The problems of steps that Volcano refuses in any order.

    """

    steps: list[Step]
    deletions: list[Step]
    states: Mapping[str, str]
    impossible: list[Problem]


def rollout(before: Iterable[Object], after: Iterable[Object], options: WebhookOptions = DEFAULTS) -> Rollout:
    """Return the rollout from the queues `before` to those of `after`.

    The queues that Volcano creates at its start are there, also where `before` lacks them.
    """
    there, wanted = _by_name(before), _by_name(after)
    for queue in queues_of_volcano(there):
        name = queue["metadata"]["name"]
        there[name] = queue
        wanted.setdefault(name, queue)
    return _Way(there, wanted, options).walk()


class _Way:
    """The state of the cluster during a rollout, and its goal."""

    def __init__(self, before: dict[str, Object], after: dict[str, Object], options: WebhookOptions) -> None:
        self.options = options
        self.present = dict(before)
        self.goals = {
            name: _with_status(queue if name in before else as_created(queue), before.get(name))
            for name, queue in after.items()
        }
        self.states = dict(_states(before, after))
        self.impossible: list[Problem] = []
        self.steps: list[Step] = []
        self.halfway: set[tuple[str, Form]] = set()
        self.webhook = QueueAdmission(self.present.values(), options)

    def walk(self) -> Rollout:
        """Take steps that the webhook accepts, until none is left or none is accepted."""
        self._keep_root_amounts()
        while self._advances():
            pass
        self.impossible += self._left()
        deletions = self._deletions()
        states = {name: state for name, state in self.states.items() if name in self.present}
        if states.get(ROOT) == "Closed":
            del states[ROOT]
            self.impossible.append(_ROOT_STAYS_OPEN)
        return Rollout(self.steps, deletions, states, self.impossible)

    def _left(self) -> Iterator[Problem]:
        """Yield the problems of the queues that are not in their final form, parents first.

        A queue below another one of them is judged beside queues in their final form, as it may only wait for
        that one, and without what that one says already. What the children of a queue exceed together is
        reported for the first of them.
        """
        said: dict[str, set[str]] = {}
        exceeded: set[tuple[str, str, str]] = set()
        for name in self._open():
            above = [ancestor for ancestor in _ancestors(name, self.goals) if ancestor in said]
            found = self._refusals_at_the_end(name) if above else self._refusals(name, self.goals[name])
            said[name] = {problem.rule for problem in found}
            known = {rule for ancestor in above for rule in said[ancestor]}
            for problem in found:
                parent = (self.goals[name].get("spec") or {}).get("parent") or ROOT
                of_all = (parent, problem.rule, problem.path)
                if problem.rule not in known and of_all not in exceeded:
                    yield problem
                if problem.rule.startswith("queue.children_"):
                    exceeded.add(of_all)

    def _refusals_at_the_end(self, name: str) -> list[Problem]:
        there = self.present.get(name)
        others = [queue for other, queue in self.goals.items() if other != name or there is not None]
        webhook = QueueAdmission(others, self.options)
        goal = self.goals[name]
        return webhook.on_create(goal) if there is None else webhook.on_update(there, goal)

    def _keep_root_amounts(self) -> None:
        """Report changes of root that its protection by the webhook refuses, and continue without them."""
        there, goal = self.present.get(ROOT), self.goals.get(ROOT)
        if there is None or goal is None:
            return
        refused = [one for one in self._refusals(ROOT, goal) if one.rule == "queue.root_protected"]
        if refused:
            self.impossible += refused
            self.goals[ROOT] = with_amounts(goal, {part: written(there, part) for part in PARTS})

    def _advances(self) -> bool:
        left = self._open()
        if not left:
            return False
        done = [name for name in left if self._try(name, self.goals[name])]
        return bool(done) or any(self._halfway(form) for form in (larger, smaller, bare))

    def _open(self) -> list[str]:
        """Return the queues that are not in their final form, parents first."""
        names = [
            name
            for name, goal in self.goals.items()
            if content_of(self.present.get(name)) != content_of(goal)
        ]
        return sorted(names, key=lambda name: _level(name, self.goals))

    def _halfway(self, form: Form) -> bool:
        """Write one queue half-way: with larger amounts if they grow, smaller ones if they shrink.

        A queue without amounts remains so until it can get its final form; otherwise a queue to delete, such
        as a renamed one, would keep its amounts because its descendants fill it again.
        """
        open_now = {*self._open(), *(self.present.keys() - self.goals.keys())}
        names = sorted(
            self.present if form is bare else open_now & self.present.keys(),
            key=lambda name: (
                name not in open_now,
                _level(name, self.present) * (1 if form is larger else -1),
            ),
        )
        left = [name for name in names if not {(name, form), (name, bare)} & self.halfway]
        if form is bare:
            # All at once: otherwise an emptied queue would be filled again before its parent is empty.
            return bool(
                [name for name in sorted(left, key=self._depth, reverse=True) if self._put(name, form)]
            )
        return any(self._put(name, form) for name in left)

    def _depth(self, name: str) -> int:
        return _level(name, self.present)

    def _put(self, name: str, form: Form) -> bool:
        there = self.present[name]
        between = form(there, self.goals.get(name, there))
        if content_of(between) == content_of(there) or not self._try(name, between, halfway=True):
            return False
        self.halfway.add((name, form))
        return True

    def _try(self, name: str, queue: Object, *, halfway: bool = False) -> bool:
        if self._refusals(name, queue):
            return False
        there = self.present.get(name)
        verb: Literal["create", "update"] = "create" if there is None else "update"
        removes = () if there is None else tuple(removed_fields(there, queue))
        self.steps.append(Step(verb, name, _without_status(queue), halfway, removes))
        self.present[name] = queue
        self.webhook = QueueAdmission(self.present.values(), self.options)
        return True

    def _refusals(self, name: str, queue: Object) -> list[Problem]:
        there = self.present.get(name)
        return self.webhook.on_create(queue) if there is None else self.webhook.on_update(there, queue)

    def _deletions(self) -> list[Step]:
        steps: list[Step] = []
        leaving = [name for name in self.present if name not in self.goals]
        while gone := [name for name in leaving if not self.webhook.on_delete(name)]:
            for name in gone:
                steps.append(Step("delete", name, _without_status(self.present.pop(name))))
            leaving = [name for name in leaving if name not in gone]
            self.webhook = QueueAdmission(self.present.values(), self.options)
        for name in leaving:
            self.impossible += self.webhook.on_delete(name)
        return steps


# parts of a queue


def _by_name(queues: Iterable[Object]) -> dict[str, Object]:
    return {queue["metadata"]["name"]: queue for queue in queues}


def _level(name: str, queues: Mapping[str, Object]) -> int:
    """Return the number of ancestors of a queue, itself included, up to a cycle if there is one."""
    return len(_ancestors(name, queues))


def _ancestors(name: str, queues: Mapping[str, Object]) -> list[str]:
    """Return a queue and those above it, up to a cycle if there is one."""
    above: dict[str, None] = {}
    while name in queues and name not in above:
        above[name] = None
        name = (queues[name].get("spec") or {}).get("parent") or ROOT
    return list(above)


def _without_status(queue: Object) -> Object:
    return {key: value for key, value in queue.items() if key != "status"}


def _with_status(queue: Object, there: Object | None) -> Object:
    """Return a queue with the status in the cluster, which a manifest does not change."""
    status = (there or {}).get("status")
    return {**_without_status(queue), **({"status": status} if status else {})}


def _states(before: Mapping[str, Object], after: Mapping[str, Object]) -> Iterator[tuple[str, str]]:
    """Yield the queues that a command must open or close."""
    for name, queue in after.items():
        wanted = (queue.get("status") or {}).get("state") or "Open"
        there = (before.get(name, {}).get("status") or {}).get("state") or "Open"
        if wanted in ("Open", "Closed") and wanted != there:
            yield name, wanted
