"""The columns of the queue table, and the values of their cells."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from planner.web.templatetags.quantities import exact, percent
from planning.rows import Amounts
from planning.units import Scale, compact

if TYPE_CHECKING:
    from planner.scenarios.views.queue_tree import QueueLine

Value = float | None
"""The sort key of a cell: an amount in the scheduler's units, infinite if unlimited; None: not set."""


@dataclass(frozen=True)
class Column:
    """A column after the queue's name: a field to edit, or a figure that the core calculates."""

    name: str
    label: str
    value: Callable[["QueueLine", str], Value]
    measure: str = ""
    field: str = ""
    """The path of the field in the queue, without its resource; empty for a calculated figure."""
    answer: str = ""
    effect: str = ""
    """The name of the field in `Preview.without_effect`."""
    term: str = ""
    """Its entry in the glossary."""
    absent: str = "–"
    is_amount: bool = True
    figure: str = ""
    """The name of the figure in the search for changes that reach an amount."""

    @property
    def heading(self) -> str:
        """Return the heading where the column stands alone."""
        return self.name.replace("_", " ")

    def text(self, value: Value, scale: Scale) -> str:
        """Return the text of a value, in the unit of the columns."""
        if value is None:
            return self.absent
        if self.name == "reclaimable":
            return "yes" if value else "no"
        if self.name == "share":
            return percent(value)
        if not self.is_amount:
            return f"{value:,.0f}"
        return "unlimited" if math.isinf(value) else compact(scale.number(value))

    def exact(self, value: Value, resource: str) -> str:
        """Return a value in the scheduler's units, empty if the text is exact."""
        if value is None or not self.is_amount or math.isinf(value):
            return ""
        return f"{resource}: {exact(value, resource)}"

    def place(self, resource: str) -> str:
        """Return the path of the field that the column edits, empty for a calculated figure."""
        return f"{self.field}.{resource}" if self.field and self.is_amount else self.field


def _held(amounts: Callable[["QueueLine"], Amounts]) -> Callable[["QueueLine", str], Value]:
    def value(line: "QueueLine", resource: str) -> Value:
        held = amounts(line)
        if resource not in held:
            return None
        amount = held[resource]
        return math.inf if amount is None else amount

    return value


COLUMNS: Sequence[Column] = (
    Column(
        "weight", "Weight", lambda line, _: line.row.weight,
        field="weight", effect="weight", is_amount=False,
    ),
    Column(
        "priority", "Priority", lambda line, _: line.row.priority,
        field="priority", effect="priority", is_amount=False,
    ),
    Column(
        "reclaimable", "Reclaimable", lambda line, _: line.row.reclaimable,
        field="reclaimable", effect="reclaimable", term="reclaimable", absent="not set", is_amount=False,
    ),
    Column(
        "guarantee", "Guarantee", _held(lambda line: line.guarantee),
        measure="guarantee", field="guarantee.resource", effect="guarantee", term="guarantee",
    ),
    Column(
        "guarantee_of_children", "of its children", _held(lambda line: line.answer.guarantee_of_children),
        answer="guarantee_of_children",
    ),
    Column(
        "deserved", "Deserved", _held(lambda line: line.deserved),
        measure="deserved", field="deserved", effect="deserved", term="deserved",
    ),
    Column(
        "deserved_calculated", "calculated", _held(lambda line: line.answer.deserved), answer="deserved",
        figure="deserved",
    ),
    Column(
        "capability", "Capability", _held(lambda line: line.capability),
        measure="capability", field="capability", effect="capability", term="capability", absent="unlimited",
    ),
    Column(
        "real_capability", "real", _held(lambda line: line.answer.real_capability), answer="real_capability",
    ),
    Column(
        "allocated", "Allocated", _held(lambda line: line.answer.allocated),
        measure="allocated", answer="allocated",
    ),
    Column(
        "request", "Request", _held(lambda line: line.answer.request), measure="request", answer="request",
    ),
    Column("share", "Share", lambda line, _: line.share, answer="share", term="share", is_amount=False,
        figure="share",
    ),
)  # fmt: skip
NAMED: Mapping[str, Column] = {column.name: column for column in COLUMNS}
FIELDS: Sequence[Column] = tuple(column for column in COLUMNS if column.field)
"""The editable columns, in the order of a block without a heading (`planning.pasted`)."""
