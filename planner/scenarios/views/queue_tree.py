"""Which lines does the tree-table of queues have, and what stands beside their fields?"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import quote, urlencode

from django.urls import reverse

from planner.scenarios.models import Scenario
from planner.scenarios.selectors.preview import scenario_preview
from planner.scenarios.selectors.scenarios import queue_rows
from planner.web.templatetags.quantities import resource_order
from planning.preview import Preview, QueueAnswer
from planning.quantities import amounts
from planning.rows import Amounts, QueueRow


@dataclass(frozen=True)
class QueueLine:
    """One queue: its fields as amounts, which a page can say in words, and the core's answer to them.

    `edit` is the address that opens the line for editing.
    """

    row: QueueRow
    answer: QueueAnswer
    guarantee: Amounts
    deserved: Amounts
    capability: Amounts
    edit: str

    @property
    def level(self) -> int:
        """Its level in the tree, from 1, as ARIA counts."""
        return self.row.depth + 1


@dataclass(frozen=True)
class QueueTree:
    """The lines, parents first; the resources that can be set, and the one that the columns show."""

    lines: Sequence[QueueLine]
    resources: Sequence[str]
    resource: str
    preview: Preview

    def line(self, name: str) -> QueueLine | None:
        """Return the line of a queue."""
        return next((line for line in self.lines if line.row.name == name), None)

    @property
    def names(self) -> list[str]:
        """Return the names of all queues."""
        return [line.row.name for line in self.lines]

    def below(self, name: str) -> list[QueueLine]:
        """Return the lines of the queues below one, parents first."""
        found: list[QueueLine] = []
        names = {name}
        for line in self.lines:
            if line.row.parent in names and line.row.name not in names:
                names.add(line.row.name)
                found.append(line)
        return found


def scenario_tree(scenario: Scenario, resource: str = "") -> QueueTree:
    """Return the tree-table of a scenario's queues with the columns of one resource, cpu unless asked.

    A resource that neither a node nor a queue names is taken in all the same: that is how it is added.
    """
    stored = list(scenario.queues.all())
    rows, preview = queue_rows(stored), scenario_preview(scenario, stored)
    named = {name for row in rows for quantities in _quantities(row) for name in quantities}
    resources = resource_order(named | set(preview.total) | {"cpu", "memory"} | ({resource} - {""}))
    shown = resource or resources[0]
    address = reverse("planner:queues", args=[scenario.pk])
    query = urlencode({"edit": "", "resource": shown})
    lines = [_line(row, preview.queues, f"{address}{quote(row.name)}/?{query}") for row in rows]
    return QueueTree(lines=lines, resources=resources, resource=shown, preview=preview)


def _line(row: QueueRow, answers: Mapping[str, QueueAnswer], edit: str) -> QueueLine:
    guarantee, deserved, capability = (amounts(quantities) for quantities in _quantities(row))
    return QueueLine(row, answers[row.name], guarantee, deserved, capability, edit)


def _quantities(row: QueueRow) -> tuple[dict[str, str], ...]:
    return dict(row.guarantee), dict(row.deserved), dict(row.capability)
