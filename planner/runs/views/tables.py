"""The pages that list the jobs, victims and decisions of a run: sorted, filtered, grouped, paged."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse, QueryDict
from django.views.decorators.http import require_GET

from planner.runs.models import Run
from planner.runs.selectors.lists import LISTS, Group
from planner.web.views.found import run_or_404
from planner.web.views.listing import Listing
from planner.web.views.pages import page_or_part

BY, ORDERING, HIDE = "by", "ordering", "hide"
_OF_THE_PAGE = {BY, HIDE, "page"}
"""Parameters of the page that the API does not have."""
MOST_VALUES = 50
"""How many values of a field are offered; the search finds the others."""

WORDS = {
    "gate": "Reason", "queue": "Queue", "resource": "Resource", "phase": "Phase", "for_queue": "For queue",
    "job": "Job", "for_job": "For job", "node": "Node", "action": "Action", "state": "Outcome",
    "op": "Decision", "cycle": "Cycle", "pending": "Waiting",
}  # fmt: skip


@dataclass(frozen=True)
class Kind:
    """How a list of a run is shown: the name of its rows, its columns, and its filters."""

    title: str
    word: str
    columns: Sequence[tuple[str, str]]
    """The field in the API, and the column's header."""
    facets: Sequence[str]
    route: str
    groups_route: str
    template: str
    note: str = ""


KINDS = {
    "jobs": Kind(
        title="Jobs",
        word="job",
        columns=(
            ("job", "Job"), ("queue", "Queue"), ("pending", "Waiting"), ("min_available", "minMember"),
            ("priority", "Priority"), ("phase_after", "Phase"), ("message", "Why"),
        ),
        facets=LISTS["jobs"].groups,
        route="api:run-jobs",
        groups_route="api:run-job-groups",
        template="runs/_job_rows.html",
        note="Waiting: pods without a node at the end of the run.",
    ),
    "victims": Kind(
        title="Victims",
        word="victim",
        columns=(
            ("pod", "Pod"), ("job", "Job"), ("queue", "Queue"), ("node", "Node"), ("for_pod", "For pod"),
            ("for_queue", "For queue"), ("action", "Action"), ("state", "Outcome"),
        ),
        facets=("queue", "for_queue", "action", "state"),
        route="api:run-victims",
        groups_route="api:run-victim-groups",
        template="runs/_victim_rows.html",
        note="Committed: the pod is evicted. Kept: selected for a gang that stayed incomplete, so it is not "
        "evicted. Failed: the eviction was not possible.",
    ),
    "decisions": Kind(
        title="Decisions",
        word="decision",
        columns=(
            ("seq", "Step"), ("action", "Action"), ("op", "Decision"), ("job", "Job"), ("pod", "Pod"),
            ("node", "Node"), ("for_pod", "For pod"), ("state", "State"), ("reason", "Reason"),
        ),
        facets=("action", "op", "state", "cycle"),
        route="api:run-decisions",
        groups_route="api:run-decision-groups",
        template="runs/_decision_rows.html",
    ),
}  # fmt: skip


@dataclass(frozen=True)
class Facet:
    """A field to filter by, with the number of rows of each value."""

    name: str
    word: str
    chosen: str
    values: Sequence[Group]
    more: int


@dataclass(frozen=True)
class GroupRow:
    """A group, and the address of its rows."""

    group: Group
    address: str


class TablePage:
    """The rows of one list that match the page's address, whose parameters are those of the API."""

    def __init__(self, run: Run, name: str, params: QueryDict) -> None:
        self.run = run
        self.name = name
        self.kind = KINDS[name]
        self._list = LISTS[name]
        self.params = params
        self.words = params.get("words", "").strip()

    @cached_property
    def by(self) -> str:
        """The field by which rows are grouped, empty if they are not."""
        by = self.params.get(BY, "")
        return by if by in self._list.groups else ""

    @cached_property
    def found(self) -> Any:
        """The rows that match the filters."""
        return self._found(self.params)

    @cached_property
    def listing(self) -> Listing:
        """One page of the rows, or of the groups."""
        rows = list(self._group_rows()) if self.by else self.found
        return Listing(rows, name="page", params=self.params)

    @cached_property
    def total(self) -> int:
        """The number of rows that match the filters, grouped or not."""
        return self.found.count() if hasattr(self.found, "query") else len(self.found)

    @property
    def of(self) -> int:
        """The number of rows of the run."""
        return self._rows.count() if hasattr(self._rows, "query") else len(self._rows)

    @cached_property
    def _rows(self) -> Any:
        """All rows of the run."""
        return self._list.rows_of(self.run)

    @property
    def facets(self) -> Iterator[Facet]:
        """The values to filter by, counted among the rows that match all other filters."""
        for name in self.kind.facets:
            values = self._list.grouped(self._found(self._without(name, BY, "page")), name)
            chosen = self.params.get(name, "")
            shown = values[:MOST_VALUES]
            if chosen and all(group.value != chosen for group in shown):
                shown = [*shown, *(group for group in values if group.value == chosen)]
            yield Facet(name, WORDS[name], chosen, shown, len(values) - len(shown))

    @property
    def group_words(self) -> list[tuple[str, str]]:
        """The fields to group by, with their labels."""
        return [(name, WORDS[name]) for name in self._list.groups]

    @property
    def by_word(self) -> str:
        """The label of the field by which rows are grouped."""
        return WORDS.get(self.by, "")

    @property
    def kept(self) -> list[tuple[str, str]]:
        """Parameters of the address that have no field in the form."""
        fields = {"words", "page", HIDE, *self.kind.facets}
        return [(name, str(value)) for name, value in self.params.items() if name not in fields]

    @property
    def further(self) -> list[tuple[str, str]]:
        """The filters of the address that no field of the form shows."""
        return [
            (WORDS.get(name, name), {"true": "yes", "false": "no"}.get(value, value))
            for name, value in self.kept
            if name not in (BY, ORDERING)
        ]

    @cached_property
    def hidden(self) -> set[str]:
        """The fields of hidden columns; the first column is always shown."""
        others = [field for field, _ in self.kind.columns[1:]]
        return set(others).intersection(self.params.getlist(HIDE))

    @property
    def hiding(self) -> str:
        """The CSS classes that hide these columns, by position."""
        places = [place for place, (field, _) in enumerate(self.kind.columns, 1) if field in self.hidden]
        return " ".join(f"grid--without-{place}" for place in places)

    @property
    def choices(self) -> list[tuple[str, str, bool]]:
        """The columns that can be hidden, and whether each is."""
        return [(field, head, field in self.hidden) for field, head in self.kind.columns[1:]]

    @property
    def problems(self) -> list[str]:
        """Errors in the address's filters; the rows are shown without these filters."""
        unknown = self.params.keys() - _OF_THE_PAGE - set(self._list.filters.base_filters)
        errors = self._list.filters(self.params, queryset=self._rows).form.errors
        return [
            *(f"{name}: there is no such filter." for name in sorted(unknown)),
            *(f"{name}: {texts[0]}" for name, texts in errors.items()),
        ]

    @property
    def query(self) -> str:
        """The query string for the same rows in the API."""
        given = self._without(*_OF_THE_PAGE, *([ORDERING] if self.by else []))
        for name in [name for name in given if not given[name]]:
            del given[name]
        if self.hidden and not self.by:
            given["fields"] = ",".join(field for field, _ in self.kind.columns if field not in self.hidden)
        return given.urlencode()

    @property
    def query_of_file(self) -> str:
        """The query string for the same rows, or groups, as a file."""
        return "&".join(filter(None, (f"{BY}={self.by}" if self.by else "", self.query)))

    @property
    def is_filtered(self) -> bool:
        """Whether a filter is set."""
        return any(value for name, value in self.params.items() if name not in (*_OF_THE_PAGE, ORDERING))

    def _found(self, params: QueryDict) -> Any:
        return self._list.filters(params, queryset=self._rows).qs

    def _without(self, *names: str) -> QueryDict:
        kept = self.params.copy()
        for name in names:
            kept.pop(name, None)
        return kept

    def _group_rows(self) -> Iterator[GroupRow]:
        """Yield the groups, each with the address of its rows; without one if the value is empty."""
        kept = self._without(BY, "page")
        for group in self._list.grouped(self.found, self.by):
            kept[self.by] = group.value
            yield GroupRow(group, f"?{kept.urlencode()}" if group.value else "")


@require_GET
def jobs(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """Show the jobs of a run."""
    return _page(request, run_id, "jobs")


@require_GET
def victims_of_run(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """Show the victims of a run."""
    return _page(request, run_id, "victims")


@require_GET
def decisions_of_run(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """Show the decisions of a run."""
    return _page(request, run_id, "decisions")


def _page(request: HttpRequest, run_id: UUID, name: str) -> HttpResponse:
    run = run_or_404(request, run_id)
    context = {"run": run, "table": TablePage(run, name, request.GET)}
    return page_or_part(request, "runs/table.html", {"table": "runs/_table_of_run.html"}, context)
