"""API call that compares runs."""

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.exceptions import ErrorDetail, NotFound, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from planner.api.filters import is_requested
from planner.api.schema import answers
from planner.api.tables import TableView, is_table
from planner.runs.api.serializers.compared import ComparisonSerializer
from planner.runs.selectors.comparisons import Comparison, NotComparable, compared_runs, run_ids
from planner.runs.selectors.settings import settings_that_differ

TABLES = ("queues", "runs", "settings", "jobs", "victims", "placements")
LONGEST = 1000
"""The longest list in one response; each run's own lists are complete."""

RUNS = OpenApiParameter(
    "runs",
    OpenApiTypes.STR,
    required=True,
    description="The ids of two to six runs, separated by commas.",
)
TABLE = OpenApiParameter("table", enum=TABLES, description="For CSV: which list; default `queues`.")


ANYWAY = OpenApiParameter(
    "anyway",
    OpenApiTypes.BOOL,
    description="List the differences of runs of different clusters, too; may take long.",
)


class Comparisons(TableView):
    """Runs side by side."""

    parameters = ("runs", "table", "anyway")

    def rows_of(self, request: Request) -> str:
        """Return the requested table, by default that of the queues."""
        return request.query_params.get("table", TABLES[0])

    @extend_schema(responses=answers({200: ComparisonSerializer}, 404, 422), parameters=[RUNS, TABLE, ANYWAY])
    def get(self, request: Request) -> Response:
        """Return what differs between runs: settings, queues, jobs, victims, placements."""
        if self.rows_of(request) not in TABLES:
            raise ValidationError({"table": [ErrorDetail(f"One of {', '.join(TABLES)}.", "invalid_choice")]})
        try:
            ids = run_ids(request.query_params.getlist("runs"))
        except NotComparable as error:
            raise ValidationError({"runs": [ErrorDetail(str(error), "not_comparable")]}) from None
        runs = compared_runs(self.user, ids)
        if len(runs) < len(ids):
            raise NotFound
        longest = None if is_table(request) else LONGEST
        anyway = bool(is_requested(request, "anyway"))
        return Response(ComparisonSerializer(_cut(Comparison(runs), longest, anyway)).data)


def _cut(comparison: Comparison, longest: int | None, anyway: bool) -> SimpleNamespace:
    """Return a comparison with shortened lists; lists of unrelated runs are empty unless requested."""
    is_whole = comparison.related or anyway
    lists: dict[str, Sequence[Any]] = {name: () for name in TABLES if name != "runs"}
    lists |= (
        {}
        if not is_whole
        else {
            "settings": settings_that_differ(comparison.runs),
            "queues": comparison.queues.rows,
            "jobs": comparison.jobs.rows,
            "victims": comparison.victims.rows,
            "placements": comparison.placements.rows,
        }
    )
    return SimpleNamespace(
        related=comparison.related,
        heads=comparison.heads,
        totals={name: len(rows) for name, rows in lists.items()},
        **{name: rows[:longest] for name, rows in lists.items()},
    )
