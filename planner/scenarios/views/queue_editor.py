"""The open line of the queue table: its fields and their problems."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.urls import reverse

from planner.errors import StaleRevision
from planner.scenarios.forms.queues import NODE_GROUPS, QUANTITIES, Texts
from planner.scenarios.models import Change, Scenario
from planner.scenarios.views.queue_columns import Column
from planner.scenarios.views.queue_tree import QueueTree
from planner.scenarios.views.sliders import Slider, amount_slider, weight_slider
from planning.rows import Problem

Choices = Sequence[tuple[str, str]]

_FLAGS: Choices = (("", "not set"), ("true", "yes"), ("false", "no"))
_STATES = ("Open", "Closed", "Closing", "Unknown")
_STRATEGIES = ("traverse", "fifo")
QUANTITY_OF: Mapping[str, str] = {path.split(".")[0]: path for path in QUANTITIES}
"""The path of each quantity in the queue, without its resource."""


@dataclass(frozen=True)
class Measure:
    """A quantity of one resource: its field, its label and its slider."""

    name: str
    field: str
    label: str
    slider: Slider


@dataclass(frozen=True)
class Editor:
    """An open line: its queue (empty: a new one), its revision, and the texts of its fields."""

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
        """Return the queue's name in the labels of its fields."""
        return self.queue or "the new queue"

    @property
    def wanted(self) -> str:
        """Return the field to focus."""
        return "" if self.queue else "name"

    @property
    def address(self) -> str:
        """Return the address that saves the line."""
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

    def slider(self, column: Column) -> Slider | None:
        """Return the slider of a column's field, None for a field without a measure."""
        if column.name == "weight":
            largest = max((line.row.weight or 0 for line in self.tree.lines), default=0)
            return weight_slider(self.fields.get(column.field, ""), largest)
        return self._slider(column.name, column.place(self.tree.resource)) if column.is_amount else None

    def _slider(self, name: str, place: str) -> Slider:
        resource = place.removeprefix(f"{QUANTITY_OF[name]}.")
        largest = self.tree.preview.total.get(resource) or 0.0
        if resource == self.tree.resource:
            largest = max(largest, self.tree.largest)
        unset = largest if name == "capability" else 0.0
        return amount_slider(resource, self.fields.get(place, ""), largest, unset=unset)

    @property
    def others(self) -> list[dict[str, Any]]:
        """Return the quantities of the other resources."""
        return [
            {"resource": resource, "measures": list(self._measures(resource))}
            for resource in self.tree.resources
            if resource != self.tree.resource
        ]

    def _measures(self, resource: str) -> Iterator[Measure]:
        for name, path in QUANTITY_OF.items():
            place = f"{path}.{resource}"
            yield Measure(name, place, name, self._slider(name, place))

    @property
    def parents(self) -> Choices:
        """Return the queues that can be its parent."""
        own = {self.queue, *(line.row.name for line in self.tree.below(self.queue))} if self.queue else set()
        names = [name for name in self.tree.names if name not in own and name != "root"]
        held = self.fields.get("parent", "")
        dangling = [(held, f"{held} (queue does not exist)")] if held not in ("", "root", *names) else []
        return [("", "not set (root)"), ("root", "root"), *((name, name) for name in names), *dangling]

    @property
    def flags(self) -> Choices:
        """Return the choices of reclaimable."""
        return _FLAGS

    @property
    def states(self) -> Choices:
        """Return the choices of the state."""
        return _words(_STATES)

    @property
    def strategies(self) -> Choices:
        """Return the choices of the dequeue strategy."""
        return _words(_STRATEGIES)

    @property
    def node_groups(self) -> Sequence[tuple[str, str]]:
        """Return the fields of affinity with their labels."""
        return list(NODE_GROUPS.items())

    @property
    def problem_of(self) -> Mapping[str, str]:
        """Return the message of each field that has a problem."""
        prefix = f"queues.{self.queue or self.fields.get('name', '')}."
        return {(problem.path or "").removeprefix(prefix): problem.beside_field for problem in self.problems}


def _words(words: Sequence[str]) -> Choices:
    return [("", "not set"), *((word, word) for word in words)]
