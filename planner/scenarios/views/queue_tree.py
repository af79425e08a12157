"""The lines of the queue table, their order, and the figures beside their fields."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from urllib.parse import quote, urlencode

from django.http import HttpRequest, QueryDict
from django.urls import reverse

from planner.scenarios.models import Queue, Scenario
from planner.scenarios.selectors.preview import scenario_preview, snapshot_preview
from planner.scenarios.selectors.review import scenario_problems
from planner.scenarios.views.queue_columns import COLUMNS, NAMED, Column, Value
from planner.web.templatetags.quantities import resource_order
from planner.web.views.pages import fragment_requested
from planning.amounts import read_amounts
from planning.deficits import contested, dominant
from planning.preview import Preview, QueueAnswer
from planning.queues import QueueFields
from planning.rows import Amounts, QueueRow, queue_rows
from planning.units import Scale, scale_of

NAME = "name"


@dataclass(frozen=True)
class Shown:
    """The requested view of the table: the resource of its amounts, its order, its columns, its rows.

    `sort` is a column or ``name``, descending with a minus; empty: as a tree, parents first. `findings`: only
    queues with findings, in a tree with their ancestors.
    """

    resource: str = ""
    sort: str = ""
    hide: Sequence[str] = ()
    findings: bool = False

    @property
    def column(self) -> str:
        """Return the column that the table is sorted by, empty for the tree."""
        return self.sort.removeprefix("-")

    def query(self, **changed: str) -> str:
        """Return the query string of this view, with some other values."""
        findings = "yes" if self.findings else ""
        params = {"resource": self.resource, "sort": self.sort, "findings": findings, **changed}
        return urlencode([*((name, text) for name, text in params.items() if text), *self._hidden])

    @property
    def _hidden(self) -> list[tuple[str, str]]:
        return [("hide", name) for name in self.hide]


def shown_of(request: HttpRequest) -> Shown:
    """Return the requested view; for single lines that htmx requests, from the address of their page."""
    params = request.GET
    current: str | None = request.htmx.current_url_abs_path  # type: ignore[attr-defined]  # django_htmx
    if (
        current
        and fragment_requested(request) != "queues"
        and not ({"sort", "hide", "findings"} & set(params))
    ):
        params = QueryDict(current.partition("?")[2])
    resource = request.POST.get("resource") or request.GET.get("resource") or params.get("resource") or ""
    sort = params.get("sort", "")
    known = sort.removeprefix("-") in (NAME, *NAMED)
    hidden = [name for name in params.getlist("hide") if name in NAMED]
    return Shown(resource.strip(), sort if known else "", hidden, params.get("findings") == "yes")


@dataclass(frozen=True)
class QueueLine:
    """One queue: its fields as amounts, and the figures that the core calculates.

    `edit` is the address that opens the line for editing; `imported` its name in the snapshot, empty if it
    was added in the scenario.
    """

    row: QueueRow
    answer: QueueAnswer
    guarantee: Amounts
    deserved: Amounts
    capability: Amounts
    edit: str = ""
    imported: str = ""

    @property
    def level(self) -> int:
        """Its level in the tree, from 1, as in ARIA."""
        return self.row.depth + 1

    @property
    def share(self) -> float | None:
        """Its share; a parent's is that of its own amounts, which Volcano does not calculate."""
        _, share = dominant(self.answer.allocated, self.answer.deserved)
        return share if share is None or self.row.children else self.answer.share


@dataclass(frozen=True)
class QueueTree:
    """The lines, parents first unless sorted; the editable resources, and the view of the table.

    `before` holds the lines of the snapshot by name, empty while the scenario has no changes; `only` the
    names of the shown queues, None for all; `reach` is the address of the search for changes that reach an
    amount, empty if edits are not saved.
    """

    lines: Sequence[QueueLine]
    resources: Sequence[str]
    shown: Shown
    preview: Preview
    before: Mapping[str, QueueLine] = field(default_factory=dict)
    only: frozenset[str] | None = None
    reach: str = ""

    @property
    def visible(self) -> Sequence[QueueLine]:
        """Return the shown lines."""
        return [line for line in self.lines if self.only is None or line.row.name in self.only]

    @property
    def resource(self) -> str:
        """Return the resource of the columns."""
        return self.shown.resource

    @property
    def columns(self) -> Sequence[Column]:
        """Return the columns after the name."""
        return COLUMNS

    @property
    def without(self) -> str:
        """Return the classes that hide columns; the name is the first column."""
        hidden = (number for number, column in enumerate(COLUMNS, start=2) if column.name in self.shown.hide)
        return " ".join(f"grid--without-{number}" for number in hidden)

    @cached_property
    def largest(self) -> float:
        """Return the largest amount of all columns, which determines their unit."""
        held = (
            column.value(line, self.resource) for line in self.lines for column in COLUMNS if column.is_amount
        )
        return max((amount for amount in held if amount and amount != float("inf")), default=0.0)

    @cached_property
    def scale(self) -> Scale:
        """Return the unit of all amounts in the columns."""
        return scale_of(self.resource, self.largest)

    @cached_property
    def named(self) -> Mapping[str, QueueLine]:
        """Return the lines by name."""
        return {line.row.name: line for line in self.lines}

    def was(self, line: QueueLine, column: Column) -> tuple[bool, Value]:
        """Return whether a cell differs from the snapshot, and the text of the snapshot."""
        earlier = self.before.get(line.imported)
        value = column.value(earlier, self.resource) if earlier else None
        return bool(earlier) and value != column.value(line, self.resource), value

    def line(self, name: str) -> QueueLine | None:
        """Return the line of a queue."""
        return self.named.get(name)

    @property
    def names(self) -> list[str]:
        """Return the names of all queues."""
        return [line.row.name for line in self.lines]

    def below(self, name: str) -> list[QueueLine]:
        """Return the lines of a queue's descendants, parents first."""
        found: list[QueueLine] = []
        names = {name}
        for line in sorted(self.lines, key=lambda line: line.level):
            if line.row.parent in names and line.row.name not in names:
                names.add(line.row.name)
                found.append(line)
        return found


def scenario_tree(scenario: Scenario, shown: Shown | None = None) -> QueueTree:
    """Return the table of a scenario's queues, by default in its most contested resource.

    The requested resource may be one that no node or queue has yet: that is how a resource is added.
    """
    stored = list(scenario.queues.all())
    tree = tree_of(scenario, stored, scenario_preview(scenario, stored), shown or Shown())
    tree = replace(tree, reach=reverse("planner:reach", args=[scenario.pk]))
    if scenario.revision > 1 or scenario.parent_id:
        tree = replace(tree, before=_lines_before(scenario))
    if shown is not None and shown.findings:
        tree = replace(tree, only=_with_findings(scenario, stored, tree))
    return tree


def _with_findings(scenario: Scenario, stored: Sequence[Queue], tree: QueueTree) -> frozenset[str]:
    """Return the names of the queues with findings, in a tree with their ancestors."""
    found: set[str] = set()
    for problem in scenario_problems(scenario, stored):
        line = tree.line(problem.queue or "")
        while line is not None and line.row.name not in found:
            found.add(line.row.name)
            line = None if tree.shown.sort else tree.line(line.row.parent or "root")
    return frozenset(found)


def tree_of(scenario: Scenario, queues: Sequence[QueueFields], preview: Preview, shown: Shown) -> QueueTree:
    """Return the table of queues, saved or not, with the figures of the core."""
    rows = queue_rows(queues)
    named = {name for row in rows for quantities in _quantities(row) for name in quantities}
    resources = resource_order(named | set(preview.total) | {"cpu", "memory"} | ({shown.resource} - {""}))
    shown = replace(shown, resource=shown.resource or _most_contested(rows, preview, resources))
    imported = {row.name: row.imported_name for row in queues}
    address = reverse("planner:queues", args=[scenario.pk])
    query = shown.query(edit="1")
    lines = [
        _line(row, preview.queues, f"{address}{quote(row.name)}/?{query}", imported[row.name]) for row in rows
    ]
    return QueueTree(_in_order(lines, shown), resources, shown, preview)


@dataclass(frozen=True)
class _Requesting:
    queue: str
    parent: str
    deserved: Amounts
    request: Amounts


def _most_contested(rows: Sequence[QueueRow], preview: Preview, resources: Sequence[str]) -> str:
    """Return the resource that a run's page also opens with, otherwise the first."""
    answers = ((row, preview.queues[row.name]) for row in rows)
    found = contested(_Requesting(row.name, row.parent, one.deserved, one.request) for row, one in answers)
    return next((name for name in found if name in resources), resources[0])


def _in_order(lines: list[QueueLine], shown: Shown) -> Sequence[QueueLine]:
    """Return the lines as a tree, or sorted and flat; lines without a value come last."""
    if not shown.sort:
        return lines
    falls = shown.sort.startswith("-")
    flat = [replace(line, row=replace(line.row, depth=0)) for line in lines]
    if shown.column == NAME:
        return sorted(flat, key=lambda line: line.row.name, reverse=falls)
    column = NAMED[shown.column]
    values = {line.row.name: column.value(line, shown.resource) for line in flat}

    def key(line: QueueLine) -> tuple[bool, float, str]:
        value = values[line.row.name]
        number = 0.0 if value is None else float(value)
        return value is None, -number if falls else number, line.row.name

    return sorted(flat, key=key)


def _lines_before(scenario: Scenario) -> dict[str, QueueLine]:
    """Return the lines of the unchanged snapshot by name."""
    queues, preview = snapshot_preview(scenario)
    return {row.name: _line(row, preview.queues) for row in queue_rows(queues)}


def _line(row: QueueRow, answers: Mapping[str, QueueAnswer], edit: str = "", imported: str = "") -> QueueLine:
    guarantee, deserved, capability = (read_amounts(quantities) for quantities in _quantities(row))
    return QueueLine(row, answers[row.name], guarantee, deserved, capability, edit, imported)


def _quantities(row: QueueRow) -> tuple[dict[str, str], ...]:
    return dict(row.guarantee), dict(row.deserved), dict(row.capability)
