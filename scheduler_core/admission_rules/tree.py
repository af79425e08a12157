"""Checks of a queue's amounts against its ancestors, siblings and children."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from scheduler_core.admission_rules.written import (
    Object,
    Problems,
    amounts_of,
    field_of,
    name_of,
    parent_of,
    problem,
    quantity_of,
    vector_of,
)
from scheduler_core.model.queue import ROOT
from scheduler_core.problem import spell_steps
from scheduler_core.resource import Resource
from scheduler_core.units import compared_texts


class QueueTree:
    """The queues of a cluster by name, with the children of each."""

    def __init__(self, queues: Iterable[Object]) -> None:
        self.queues = {name_of(queue): queue for queue in queues}
        self.children: dict[str, list[Object]] = defaultdict(list)
        for queue in self.queues.values():
            self.children[parent_of(queue)].append(queue)

    def depth(self, queue: Object, most: int) -> int:
        """Return the level of a queue below root, at most one more than allowed."""
        depth, parent = 1, parent_of(queue)
        while parent not in ("", ROOT) and depth <= most:
            depth += 1
            parent = parent_of(self.queues[parent]) if parent in self.queues else ""
        return depth

    def lost_ancestor(self, name: str) -> tuple[str, str]:
        """Return the nearest queue, from this one up, whose parent does not exist, and that parent."""
        seen: set[str] = set()
        while name not in seen:
            seen.add(name)
            parent = parent_of(self.queues[name])
            if parent in ("", ROOT):
                break
            if parent not in self.queues:
                return name, parent
            name = parent
        return "", ""

    def problems(self, queue: Object, *, moved: bool) -> Problems:
        """Check amounts against the ancestors', the siblings' and the children's."""
        name, parent = name_of(queue), self.queues.get(parent_of(queue))
        if parent is None and parent_of(queue) not in ("", ROOT) and not moved:
            message = f"no such queue: {parent_of(queue)!r}"
            yield problem(queue, "queue.parent_missing", "spec.parent", message, fix="create it first")
        if parent is not None and name_of(parent) != ROOT:
            yield from self.ancestor_problems(queue)
            siblings = [child for child in self.children[name_of(parent)] if name_of(child) != name]
            yield from _sum_problems(queue, parent, [*siblings, queue])
        if self.children[name]:
            yield from self._descendant_problems(queue)
            yield from self.child_problems(queue)

    def ancestor_problems(self, queue: Object) -> Problems:
        """Check that no limit exceeds that of the nearest ancestor that has one."""
        mine = vector_of(queue, "capability")
        for resource in mine.names():
            ancestor, limit = self._nearest_capability(queue, resource)
            if ancestor and mine.get(resource) > limit:
                own, most = quantity_of(resource, mine.get(resource)), quantity_of(resource, limit)
                yield problem(
                    queue,
                    "queue.capability_above_ancestor",
                    spell_steps("spec", "capability", resource),
                    f"{own} is above the {most} of {ancestor}",
                    actual=mine.get(resource),
                    limit=limit,
                    fix=f"write at most {most}",
                )

    def child_problems(self, queue: Object) -> Problems:
        """Check the children's guarantees and deserved amounts against the queue's own."""
        return _sum_problems(queue, queue, self.children[name_of(queue)])

    def _nearest_capability(self, queue: Object, resource: str) -> tuple[str, float]:
        """Return the nearest ancestor below root that limits a resource, and its limit."""
        seen: set[str] = set()
        parent = parent_of(queue)
        while parent not in ("", ROOT) and parent in self.queues and parent not in seen:
            seen.add(parent)
            limit = vector_of(self.queues[parent], "capability").get(resource)
            if limit > 0:
                return parent, limit
            parent = parent_of(self.queues[parent])
        return "", 0.0

    def _descendant_problems(self, queue: Object) -> Problems:
        mine = vector_of(queue, "capability")
        for resource in mine.names():
            largest = max(
                self._largest_below(child, resource, frozenset({name_of(queue)}))
                for child in self.children[name_of(queue)]
            )
            if mine.get(resource) < largest:
                own, least = quantity_of(resource, mine.get(resource)), quantity_of(resource, largest)
                yield problem(
                    queue,
                    "queue.capability_below_descendant",
                    spell_steps("spec", "capability", resource),
                    f"{own} is below the {least} of a descendant",
                    actual=mine.get(resource),
                    limit=largest,
                    fix=f"write at least {least}",
                )

    def _largest_below(self, queue: Object, resource: str, above: frozenset[str]) -> float:
        """Return a queue's own limit of a resource, else the largest limit below it."""
        own = vector_of(queue, "capability").get(resource)
        if own > 0 or name_of(queue) in above:
            return max(own, 0.0)
        above |= {name_of(queue)}
        return max(
            (self._largest_below(child, resource, above) for child in self.children[name_of(queue)]),
            default=0.0,
        )


def _sum_problems(queue: Object, parent: Object, children: Iterable[Object]) -> Problems:
    """Check that the children's guarantees and deserved amounts sum to at most the parent's."""
    children = list(children)
    if not children:
        return
    for part in ("guarantee", "deserved"):
        limit, total = vector_of(parent, part), Resource()
        for child in children:
            total.add(vector_of(child, part))
        for resource in _lacking(limit, total):
            together, own = compared_texts(resource, total.get(resource), limit.get(resource))
            has = own if resource in amounts_of(parent, part) else "nothing"
            message = (
                f"the children of {name_of(parent)} have {together} together, the queue itself has {has}"
            )
            yield problem(
                queue,
                f"queue.children_{part}",
                spell_steps(*field_of(part), resource),
                message,
                actual=total.get(resource),
                limit=limit.get(resource),
                fix=f"give {name_of(parent)} at least as much, or the children less",
            )


def _lacking(limit: Resource, total: Resource) -> list[str]:
    """Return the resources whose sum exceeds the limit, including scalars without a limit."""
    names = [name for name in ("cpu", "memory") if limit.get(name) < total.get(name)]
    held = limit.scalars or {}
    for name, amount in sorted((total.scalars or {}).items()):
        if name not in held or held[name] < amount:
            names.append(name)
    return names
