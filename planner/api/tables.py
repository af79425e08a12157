"""Tables as files, for any call that answers with rows."""

from collections.abc import Iterable
from typing import Any

from django.db.models import QuerySet
from django.http import HttpResponseBase, StreamingHttpResponse
from rest_framework.exceptions import ValidationError
from rest_framework.generics import ListAPIView
from rest_framework.renderers import BaseRenderer, JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from planner.accounts.models import Workspace
from planner.api.access import WorkspaceView
from planner.api.columns import Row, Rows
from planner.api.filters import refuse_fractions
from planner.api.roles import KINDS
from planner.api.sparse import only_requested
from planner.api.table_files import CsvFile, ParquetFile, TableFile

_CHUNK = 500


class TableView(WorkspaceView):
    """A call whose response contains a list that is a table."""

    renderer_classes = [JSONRenderer, CsvFile, ParquetFile]
    rows_in = "results"

    def get_renderers(self) -> list[BaseRenderer]:
        """Return the formats of the call: only read calls return tables."""
        forms = super().get_renderers()
        return (
            forms
            if self.request.method == "GET"
            else [form for form in forms if not isinstance(form, TableFile)]
        )

    def handle_exception(self, exc: Exception) -> Response:
        """Return an error; a Parquet file cannot contain one."""
        if isinstance(getattr(self.request, "accepted_renderer", None), ParquetFile):
            self.request.accepted_renderer = JSONRenderer()
            self.request.accepted_media_type = JSONRenderer.media_type
        return super().handle_exception(exc)

    def finalize_response(self, request: Request, response: Any, *args: Any, **kwargs: Any) -> Any:
        """Return only the rows if the response is a table."""
        is_answer = isinstance(response, Response) and response.status_code == 200
        if is_answer and request.method == "GET" and is_table(request):
            response = self._file(request, self.table_of(request, response.data))
        if isinstance(response, StreamingHttpResponse):
            self._note_export(request)
        return super().finalize_response(request, response, *args, **kwargs)

    def _file(self, request: Request, rows: list[Row]) -> HttpResponseBase:
        """Return rows as a file, with the requested fields only."""
        try:
            found: list[Row] = only_requested(request, self, {"results": rows})["results"]
        except ValidationError as error:
            return self.handle_exception(error)
        return table(request, self.name_of(request), lambda: found)

    def _note_export(self, request: Request) -> None:
        """Record the export of a table, for the workspace of the object in its address."""
        about, workspace = "", None
        for key, kind in KINDS.items():
            if key in self.kwargs:
                thing = kind._default_manager.get(pk=self.kwargs[key])
                about = f"{thing._meta.verbose_name} {thing.pk}: "
                workspace = thing if isinstance(thing, Workspace) else thing.workspace
        self.note_export(workspace, f"{about}{self.name_of(request)} as {form_of(request).title}")

    def table_of(self, request: Request, body: Any) -> list[Row]:
        """Return the rows of the table in a body."""
        rows: list[Row] = body[self.rows_of(request)]
        return rows

    def rows_of(self, request: Request) -> str:
        """Return the requested list of the body."""
        return self.rows_in

    def name_of(self, request: Request) -> str:
        """Return the name of the file."""
        assert request.resolver_match is not None, "a call has a route"
        return str(request.resolver_match.url_name)


class TableList(TableView, ListAPIView[Any]):
    """A list that is read from the database while it is sent."""

    def list(self, request: Request, *args: Any, **kwargs: Any) -> Any:
        """Return a page, or the whole table as a file."""
        if not is_table(request):
            return super().list(request, *args, **kwargs)
        refuse_fractions(request.query_params, ("page", "page_size"))
        only_requested(request, self, {"results": []})
        found = self.filter_queryset(self.get_queryset())
        serializer = self.get_serializer()

        def body(instance: Any) -> Row:
            row: Row = only_requested(request, self, {"results": [serializer.to_representation(instance)]})
            return row["results"][0]  # type: ignore[no-any-return]  # a body is JSON

        return table(request, self.name_of(request), lambda: map(body, _each(found)))


def _each(found: Any) -> Iterable[Any]:
    """Yield rows of the database in chunks, and rows in memory as they are."""
    return found.iterator(chunk_size=_CHUNK) if isinstance(found, QuerySet) else found


def is_table(request: Request) -> bool:
    """Return whether the whole table is requested as a file."""
    return isinstance(getattr(request, "accepted_renderer", None), TableFile)


def form_of(request: Request) -> TableFile:
    """Return the requested file format."""
    form = request.accepted_renderer
    assert isinstance(form, TableFile), "is_table holds"
    return form


def table(request: Request, name: str, rows: Rows) -> HttpResponseBase:
    """Return rows as a file in the requested format, streamed."""
    form = form_of(request)
    kind = f"{form.media_type}; charset={form.charset}" if form.charset else form.media_type
    headers = {"Content-Disposition": f'attachment; filename="{name}.{form.format}"'}
    return StreamingHttpResponse(form.parts(rows), content_type=kind, headers=headers)
