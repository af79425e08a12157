"""API calls that return what happens in a window of a forecast: figures over time, and evictions."""

from collections.abc import Iterator, Mapping
from typing import Any
from uuid import UUID

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.exceptions import ErrorDetail, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from planner.api.columns import Row
from planner.api.filters import ordering_parameter, refuse_unknown
from planner.api.schema import answers, paged
from planner.api.serializers import amount_unit
from planner.forecasts.api.forecasts import OF_LISTS, PAGE, PAGE_SIZE, QUEUE, ForecastTable
from planner.forecasts.api.serializers import EvictionRowSerializer, SeriesSerializer
from planner.forecasts.selectors.forecasts import record_of
from planning.forecasts.curves import curves, room_curves, use_curves, waiting_curves, window_of
from planning.forecasts.figures import eviction_rows
from planning.forecasts.record import Record
from planning.suggestions import meant

BEGIN = OpenApiParameter("begin", OpenApiTypes.FLOAT, description="Simulated seconds; default 0.")
END = OpenApiParameter("end", OpenApiTypes.FLOAT, description="Simulated seconds; default: the end.")
RESOURCE = OpenApiParameter("resource", description="Default `cpu`.")
_UNITS_OF_OTHERS = {"waiting": "jobs", "fragmented_part": "ratio"}
"""The units of figures that are no amounts of the resource."""


class ForecastEvictions(ForecastTable):
    """The evictions of a forecast."""

    parameters = None
    orders = ("t", "queue", "for_queue", "ran_seconds")

    @extend_schema(
        operation_id="forecasts_evictions_list",
        responses=answers({200: paged(EvictionRowSerializer)}, 404, 422),
        parameters=[QUEUE, BEGIN, END, ordering_parameter(orders), PAGE, PAGE_SIZE],
    )
    def get(self, request: Request, forecast_id: UUID) -> Response:
        """Return each eviction: its time, the pod, and the job that it was evicted for."""
        refuse_unknown(request.query_params, {*OF_LISTS, "queue", "begin", "end"})
        record = record_of(self.ended())
        begin, end = _window(request, record)
        queue = request.query_params.get("queue")
        rows = [
            row
            for row in eviction_rows(record)
            if begin <= row.t <= end and queue in (None, row.queue, row.for_queue)
        ]
        return self.listed(request, rows, EvictionRowSerializer, self.orders)


class ForecastSeries(ForecastTable):
    """The queues of a forecast over time."""

    parameters = None

    def table_of(self, request: Request, body: Any) -> list[Row]:
        """Return a row for each time at which a figure changes."""
        return [row for curve in body["curves"] for row in _changes(curve, body["resource"], body["unit"])]

    @extend_schema(
        responses=answers({200: SeriesSerializer}, 404, 422), parameters=[RESOURCE, QUEUE, BEGIN, END]
    )
    def get(self, request: Request, forecast_id: UUID) -> Response:
        """Return deserved, allocated, request and waiting jobs of queues, and the use of the nodes.

        Of the nodes: `allocated`, `capacity`, `free`, and how much of the free resources is `fragmented`.
        """
        refuse_unknown(request.query_params, {"resource", "queue", "begin", "end", "fields", "format"})
        record = record_of(self.ended())
        begin, end = _window(request, record)
        resource = request.query_params.get("resource", "cpu")
        if resource not in record.resources():
            known = f"Known: {', '.join(record.resources())}."
            raise ValidationError({"resource": [ErrorDetail(known, "invalid_choice")]})
        queue, known_queues = request.query_params.get("queue"), {*record.leaves, *record.queues}
        if queue is not None and queue not in known_queues:
            message = f"There is no queue {queue!r}. {meant(queue, known_queues)}"
            raise ValidationError({"queue": [ErrorDetail(message, "invalid_choice")]})
        queues = record.leaves if queue is None else [queue]
        found = [
            *curves(record, resource, begin, end, queues),
            *waiting_curves(record, begin, end, queues),
            *use_curves(record, resource, begin, end),
            *room_curves(record, resource, begin, end),
        ]
        body = {
            "resource": resource,
            "unit": amount_unit(resource),
            "begin": begin,
            "end": end,
            "curves": found,
        }
        return Response(SeriesSerializer(body).data)


def _window(request: Request, record: Record) -> tuple[float, float]:
    """Return the requested window, up to the end of the forecast."""
    found = []
    for name, default in (("begin", 0.0), ("end", record.end)):
        try:
            found.append(float(request.query_params.get(name, default)))
        except ValueError:
            raise ValidationError({name: [ErrorDetail("Write seconds.", "invalid")]}) from None
    window = window_of(record, *found)
    if window is None:
        raise ValidationError({"begin": [ErrorDetail("Must be before the end.", "invalid")]})
    return window


def _changes(curve: Mapping[str, Any], resource: str, unit: str) -> Iterator[Row]:
    """Yield the changes of a curve; jobs that wait concern no resource."""
    figure = curve["figure"]
    about = {
        "queue": curve["queue"],
        "figure": figure,
        "resource": "" if figure == "waiting" else resource,
    }
    for time, value in zip(curve["t"], curve["values"], strict=True):
        yield {**about, "t": time, "value": value, "unit": _UNITS_OF_OTHERS.get(figure, unit)}
