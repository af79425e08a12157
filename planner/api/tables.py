"""How does a table leave as CSV? `?format=csv`, or `Accept: text/csv`, on whatever answers with rows."""

import csv
import io
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from django.db.models import QuerySet
from django.http import HttpResponseBase, StreamingHttpResponse
from rest_framework.generics import ListAPIView
from rest_framework.renderers import BaseRenderer, JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from planner.accounts.models import Workspace
from planner.api.access import WorkspaceView
from planner.api.filters import refuse_fractions
from planner.api.sparse import only_requested
from planner.experiments.models import Experiment
from planner.forecasts.models import Forecast
from planner.runs.models import Run
from planner.scenarios.models import Scenario

FORMAT = "csv"
UNITS = {
    "share": "ratio", "share_at_open": "ratio", "progress": "ratio", "work_lost": "pod-seconds",
    "ran_seconds": "s", "pods": "pods", "pending": "pods", "running": "pods", "replicas": "pods",
    "bound": "pods", "pipelined": "pods", "work_lost_seconds": "pod-seconds",
}  # fmt: skip
"""The units of plain numbers, by the last part of their name; an amount brings its own."""
_AMOUNT = {"value", "unit", "unlimited"}
_RUN_BY_RUN = ("runs", "values", "deltas")
"""Lists that become columns, one for each run in the requested order; other lists are JSON in one cell."""
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")
"""What makes a spreadsheet compute a text; a quote before it says that it is a text."""
_CHUNK = 500
_KINDS: Mapping[str, Any] = {
    "run_id": Run,
    "forecast_id": Forecast,
    "experiment_id": Experiment,
    "scenario_id": Scenario,
    "workspace_id": Workspace,
}
"""What an address may name, by its part."""

Row = Mapping[str, Any]


class CsvTable(BaseRenderer):
    """Declares the format; rows are streamed by `table`, only what failed is rendered here."""

    media_type = "text/csv"
    format = FORMAT
    charset = "utf-8"

    def render(self, data: Any, media_type: str | None = None, context: Any = None) -> str:
        """Return one row."""
        return "".join(lines(lambda: [data]))


class TableView(WorkspaceView):
    """A call that answers with a body one of whose lists is a table."""

    renderer_classes = [JSONRenderer, CsvTable]
    rows_in = "results"

    def get_renderers(self) -> list[BaseRenderer]:
        """Return in what forms the call answers: a table is what can be read, not what is made."""
        forms = super().get_renderers()
        return forms if self.request.method == "GET" else [form for form in forms if form.format != FORMAT]

    def finalize_response(self, request: Request, response: Any, *args: Any, **kwargs: Any) -> Any:
        """Return only the rows when the response is a table."""
        is_answer = isinstance(response, Response) and response.status_code == 200
        if is_answer and request.method == "GET" and is_table(request):
            rows: list[Row] = response.data[self.rows_of(request)]
            response = table(self.name_of(request), lambda: rows)
        if isinstance(response, StreamingHttpResponse):
            self._note_export(request)
        return super().finalize_response(request, response, *args, **kwargs)

    def _note_export(self, request: Request) -> None:
        """Note that a table leaves as a file, for the workspace of what its address names."""
        about, workspace = "", None
        for key, kind in _KINDS.items():
            if key in self.kwargs:
                thing = kind._default_manager.get(pk=self.kwargs[key])
                about = f"{thing._meta.verbose_name} {thing.pk}: "
                workspace = thing if isinstance(thing, Workspace) else thing.workspace
        self.note_export(workspace, f"{about}{self.name_of(request)} as CSV")

    def rows_of(self, request: Request) -> str:
        """Return the requested list of the body."""
        return self.rows_in

    def name_of(self, request: Request) -> str:
        """Return what the file is called."""
        assert request.resolver_match is not None, "a call has a route"
        return str(request.resolver_match.url_name)


class TableList(TableView, ListAPIView[Any]):
    """A list that is read from the database while it is sent."""

    def list(self, request: Request, *args: Any, **kwargs: Any) -> Any:
        """Return a page, or the whole table as CSV."""
        if not is_table(request):
            return super().list(request, *args, **kwargs)
        refuse_fractions(request.query_params, ("page", "page_size"))
        only_requested(request, self, {"results": []})
        found = self.filter_queryset(self.get_queryset())
        serializer = self.get_serializer()

        def body(instance: Any) -> Row:
            row: Row = only_requested(request, self, {"results": [serializer.to_representation(instance)]})
            return row["results"][0]  # type: ignore[no-any-return]  # a body is JSON

        return table(self.name_of(request), lambda: map(body, _each(found)))


def _each(found: Any) -> Iterable[Any]:
    """Return rows of the database a few at a time, and those that are in memory as they are."""
    return found.iterator(chunk_size=_CHUNK) if isinstance(found, QuerySet) else found


def is_table(request: Request) -> bool:
    """Is CSV asked for?"""
    renderer = getattr(request, "accepted_renderer", None)
    return renderer is not None and renderer.format == FORMAT


def table(name: str, rows: Callable[[], Iterable[Row]]) -> HttpResponseBase:
    """Return rows as a file that is written while it is sent."""
    headers = {"Content-Disposition": f'attachment; filename="{name}.csv"'}
    return StreamingHttpResponse(lines(rows), content_type="text/csv; charset=utf-8", headers=headers)


def lines(rows: Callable[[], Iterable[Row]]) -> Iterator[str]:
    r"""Yield the lines of a table; `rows` is asked twice, first for the columns that any row has.

    >>> cpu = {"value": 1000.0, "unit": "millicores", "unlimited": False}
    >>> list(lines(lambda: [{"name": "=1", "share": 0.5, "deserved": {"cpu": cpu}}]))
    ['name,share (ratio),deserved.cpu (millicores)\r\n', "'=1,0.5,1000.0\r\n"]
    """
    columns: dict[str, None] = {}
    for row in rows():
        columns.update(dict.fromkeys(name for name, _ in _cells(row)))
    if not columns:
        return
    written = io.StringIO(newline="")
    writer = csv.writer(written)
    for cells in _all_cells(rows, columns):
        writer.writerow(cells)
        yield written.getvalue()
        written.seek(0)
        written.truncate()


def _all_cells(rows: Callable[[], Iterable[Row]], columns: Iterable[str]) -> Iterator[list[Any]]:
    yield [_text(name) for name in columns]
    for row in rows():
        cells = dict(_cells(row))
        yield [cells.get(name, "") for name in columns]


def _cells(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the columns of a row with what stands in them."""
    if isinstance(value, Mapping):
        if value.keys() == _AMOUNT:
            yield f"{path} ({value['unit']})", "unlimited" if value["unlimited"] else value["value"]
            return
        for name, inner in value.items():
            yield from _cells(inner, f"{path}.{name}".lstrip("."))
    elif isinstance(value, list) and path in _RUN_BY_RUN:
        for number, inner in enumerate(value, start=1):
            if inner is not None:
                yield from _cells(inner, f"{path}[{number}]")
    else:
        last = path.rpartition(".")[2]
        yield (f"{path} ({UNITS[last]})" if last in UNITS else path), _cell(value)


def _cell(value: Any) -> Any:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return value
    return _text(json.dumps(value, ensure_ascii=False) if isinstance(value, list) else str(value))


def _text(text: str) -> str:
    """Return a text that no spreadsheet computes."""
    return f"'{text}" if text.startswith(_FORMULA) else text
