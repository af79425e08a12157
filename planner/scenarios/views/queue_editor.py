"""What stands in the fields of an open line of the tree-table, and what is wrong with it?"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.urls import reverse

from planner.errors import StaleRevision
from planner.scenarios.forms import NODE_GROUPS, QUANTITIES, Texts, queue_fields
from planner.scenarios.models import Change, Queue, Scenario
from planner.scenarios.views.queue_tree import QueueTree
from planning.queues import queue_spec
from planning.rows import Problem

Choices = Sequence[tuple[str, str]]

_ANSWERS = {
    "guarantee.resource": "guarantee_of_children",
    "deserved": "deserved",
    "capability": "real_capability",
}
_FLAGS: Choices = (("", "not set"), ("true", "yes"), ("false", "no"))
_STATES = ("Open", "Closed", "Closing", "Unknown")
_STRATEGIES = ("traverse", "fifo")


@dataclass(frozen=True)
class Measure:
    """A quantity of one resource: its field, and which answer stands beside it."""

    name: str
    field: str
    label: str
    answer: str


@dataclass(frozen=True)
class Editor:
    """An open line: which queue (empty: a new one), at which revision, with which texts in its fields."""

    scenario: Scenario
    queue: str
    revision: int
    tree: QueueTree
    fields: Texts
    problems: list[Problem] = field(default_factory=list)
    stale: StaleRevision | None = None
    changes: list[Change] = field(default_factory=list)

    @property
    def place(self) -> str:
        """Return the id of the line."""
        return f"queue-{self.queue}"

    @property
    def named(self) -> str:
        """Return what the labels of its fields call the queue."""
        return self.queue or "the new queue"

    @property
    def wanted(self) -> str:
        """Return the field to write in first."""
        return "" if self.queue else "name"

    @property
    def address(self) -> str:
        """Return where the line is saved."""
        if self.queue:
            return reverse("planner:queue", args=[self.scenario.pk, self.queue])
        return reverse("planner:queues", args=[self.scenario.pk])

    @property
    def level(self) -> int:
        """Return its level in the tree, from 1."""
        line = self.tree.line(self.queue)
        if line is not None:
            return line.level
        above = self.tree.line(self.fields.get("parent", ""))
        return above.level + 1 if above else 1

    @property
    def measures(self) -> list[Measure]:
        """Return the quantities of the resource that the columns show."""
        return list(_measures(self.tree.resource))

    @property
    def others(self) -> list[dict[str, Any]]:
        """Return the quantities of the other resources."""
        return [
            {"resource": resource, "measures": list(_measures(resource))}
            for resource in self.tree.resources
            if resource != self.tree.resource
        ]

    @property
    def parents(self) -> Choices:
        """Return the queues below which it can stand."""
        own = {self.queue, *(line.row.name for line in self.tree.below(self.queue))} if self.queue else set()
        names = [name for name in self.tree.names if name not in own and name != "root"]
        held = self.fields.get("parent", "")
        dangling = [(held, f"{held} (queue does not exist)")] if held not in ("", "root", *names) else []
        return [("", "not set (root)"), ("root", "root"), *((name, name) for name in names), *dangling]

    @property
    def flags(self) -> Choices:
        """Return what reclaimable can be."""
        return _FLAGS

    @property
    def states(self) -> Choices:
        """Return what the state can be."""
        return _words(_STATES)

    @property
    def strategies(self) -> Choices:
        """Return what the dequeue strategy can be."""
        return _words(_STRATEGIES)

    @property
    def node_groups(self) -> Sequence[tuple[str, str]]:
        """Return the fields of affinity with their labels."""
        return list(NODE_GROUPS.items())

    @property
    def problem_of(self) -> Mapping[str, str]:
        """Return the sentence beside each field that has a problem."""
        prefix = f"queues.{self.queue or self.fields.get('name', '')}."
        return {(problem.path or "").removeprefix(prefix): problem.message for problem in self.problems}


def present_fields(stored: Queue, tree: QueueTree) -> dict[str, str]:
    """Return what stands in the fields of a stored queue."""
    return queue_fields(queue_spec(stored), tree.resources)


def _measures(resource: str) -> Iterator[Measure]:
    for path in QUANTITIES:
        name = path.split(".")[0]
        yield Measure(name, f"{path}.{resource}", name, _ANSWERS[path])


def _words(words: Sequence[str]) -> Choices:
    return [("", "not set"), *((word, word) for word in words)]
