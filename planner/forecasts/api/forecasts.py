"""API calls that start and follow forecasts and return their results."""

from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_view
from rest_framework import status
from rest_framework.exceptions import ErrorDetail, NotFound, ValidationError
from rest_framework.generics import get_object_or_404
from rest_framework.request import Request
from rest_framework.response import Response

from planner.api.access import WorkspaceView, is_dry, made, saved_unless_dry
from planner.api.deletion import deleted
from planner.api.filters import in_requested_order, ordering_parameter, refuse_fractions, refuse_unknown
from planner.api.idempotency import first_answer, once
from planner.api.pagination import Pages
from planner.api.schema import DRY_RUN, IDEMPOTENCY_KEY, PREFER, answers, listed, paged
from planner.api.tables import TableList, TableView, is_table
from planner.api.waiting import wait_until_over
from planner.forecasts.api.filters import ForecastFilter
from planner.forecasts.api.serializers import (
    ForecastCreate,
    ForecastSerializer,
    JobRowSerializer,
)
from planner.forecasts.api.verdict_serializers import ForecastVerdictSerializer
from planner.forecasts.models import Forecast
from planner.forecasts.selectors.forecasts import forecasts, record_of
from planner.forecasts.selectors.traces import traces
from planner.forecasts.selectors.verdicts import verdict_of
from planner.forecasts.services.forecasts import ForecastPlan, forecast_plan, forecast_queue
from planner.work.lifecycle import work_cancel
from planning.forecasts.figures import job_rows

PAGE = OpenApiParameter("page", OpenApiTypes.INT)
PAGE_SIZE = OpenApiParameter("page_size", OpenApiTypes.INT)
QUEUE = OpenApiParameter("queue", description="Only this queue.")
TABLES = ("queues", "causes", "service", "fairness", "resources", "evictions")
TABLE = OpenApiParameter("table", enum=TABLES, description="For CSV: which list; default `queues`.")
OF_LISTS = {"page", "page_size", "fields", "format", "ordering"}


@extend_schema_view(get=extend_schema(responses=listed(ForecastSerializer)))
class ForecastList(TableList):
    """The forecasts of the workspace, newest first."""

    queryset = Forecast.objects.none()
    serializer_class = ForecastSerializer
    filterset_class = ForecastFilter

    def get_queryset(self) -> QuerySet[Forecast]:
        """Return the forecasts that the caller may see."""
        return forecasts(self.user)


@extend_schema_view(get=extend_schema(operation_id="scenarios_forecasts_list"))
class ScenarioForecasts(ForecastList):
    """The forecasts of one scenario, newest first."""

    def get_queryset(self) -> QuerySet[Forecast]:
        """Return the scenario's forecasts."""
        return super().get_queryset().filter(scenario=self.scenario())

    @extend_schema(
        request=ForecastCreate,
        responses=answers({202: ForecastSerializer}, 400, 403, 404, 422),
        parameters=[DRY_RUN, IDEMPOTENCY_KEY, PREFER],
        filters=False,
    )
    def post(self, request: Request, scenario_id: UUID) -> Response:
        """Freeze the scenario's current revision and queue a forecast of it under a trace."""
        response = first_answer(request) or self._queued(request, self._plan(request))
        if not is_dry(request):
            forecast = get_object_or_404(forecasts(self.user), pk=response.data["id"])
            for name, value in wait_until_over(request, forecast).items():
                response[name] = value
                response.data = ForecastSerializer(forecast).data
        return response

    def _plan(self, request: Request) -> ForecastPlan:
        """Return the forecast that a body describes."""
        scenario = self.scenario()
        serializer = ForecastCreate(data=request.data)
        serializer.is_valid(raise_exception=True)
        options = dict(serializer.validated_data)
        trace = get_object_or_404(traces(self.user), pk=options.pop("trace"))
        return forecast_plan(scenario=scenario, trace=trace, options=options, user=self.user)

    @once
    def _queued(self, request: Request, plan: ForecastPlan) -> Response:
        """Queue a planned forecast."""
        with saved_unless_dry(request):
            forecast = forecast_queue(plan=plan, user=self.user)
        return made(request, ForecastSerializer(forecast).data, status.HTTP_202_ACCEPTED)


class ForecastView(WorkspaceView):
    """A call about one forecast."""

    def forecast(self) -> Forecast:
        """Return the requested forecast, or answer 404."""
        return get_object_or_404(forecasts(self.user), pk=self.kwargs["forecast_id"])

    def ended(self) -> Forecast:
        """Return the requested forecast if it has a result, otherwise answer 404 with its state."""
        forecast = self.forecast()
        if forecast.state != Forecast.State.SUCCEEDED:
            raise NotFound(f"The forecast is {forecast.state} and has no result.", "no_result")
        return forecast

    def listed(
        self, request: Request, rows: Sequence[Any], serializer: Any, orders: Sequence[str]
    ) -> Response:
        """Return a page of rows in the requested order, or all rows as a table."""
        ordered = in_requested_order(list(rows), request, {name: _with_none_last(name) for name in orders})
        if is_table(request):
            refuse_fractions(request.query_params, ("page", "page_size"))
            return Response({"results": serializer(ordered, many=True).data})
        pages = Pages()
        page = pages.paginate_queryset(ordered, request, self)
        return pages.get_paginated_response(serializer(page or (), many=True).data)


def _with_none_last(name: str) -> Callable[[Any], Any]:
    """Return the sort key of a field, with None last."""
    value = attrgetter(name)

    def key(row: Any) -> tuple[bool, Any]:
        found = value(row)
        return found is None, 0 if found is None else found

    return key


class ForecastTable(ForecastView, TableView):
    """A call about one forecast with a table in its body."""


class ForecastDetail(ForecastView):
    """One forecast."""

    @extend_schema(responses=answers({200: ForecastSerializer}, 404), parameters=[PREFER])
    def get(self, request: Request, forecast_id: UUID) -> Response:
        """Return a forecast: state, simulated time, finished jobs, summary."""
        forecast = self.forecast()
        headers = wait_until_over(request, forecast)
        return Response(ForecastSerializer(forecast).data, headers=headers)

    @extend_schema(responses=answers({200: OpenApiTypes.OBJECT, 204: None}, 403, 404), parameters=[DRY_RUN])
    def delete(self, request: Request, forecast_id: UUID) -> Response:
        """Delete a forecast with its results."""
        return deleted(request, self.forecast(), self.user)


class ForecastCancel(ForecastView):
    """Stopping a forecast."""

    @extend_schema(request=None, responses=answers({200: ForecastSerializer}, 403, 404))
    def post(self, request: Request, forecast_id: UUID) -> Response:
        """Cancel a queued forecast immediately, request a running one to stop, keep a finished one."""
        return Response(ForecastSerializer(work_cancel(work=self.forecast(), user=self.user)).data)


class ForecastVerdict(ForecastTable):
    """The verdict on a forecast."""

    parameters = ("table",)

    def rows_of(self, request: Request) -> str:
        """Return the requested list, by default the waits by queue."""
        return request.query_params.get("table", TABLES[0])

    def name_of(self, request: Request) -> str:
        """Return the name of the file, with that of its list."""
        return f"{super().name_of(request)}-{self.rows_of(request)}"

    @extend_schema(responses=answers({200: ForecastVerdictSerializer}, 404, 422), parameters=[TABLE])
    def get(self, request: Request, forecast_id: UUID) -> Response:
        """Return the verdict: sentences, waits by queue, evictions between queues, use, moments."""
        if self.rows_of(request) not in TABLES:
            raise ValidationError({"table": [ErrorDetail(f"One of {', '.join(TABLES)}.", "invalid_choice")]})
        return Response(ForecastVerdictSerializer(verdict_of(self.ended())).data)


class ForecastJobs(ForecastTable):
    """The jobs of a forecast."""

    parameters = None
    orders = ("job", "queue", "submitted", "started", "finished", "wait_seconds", "evictions", "lost_seconds")

    @extend_schema(
        operation_id="forecasts_jobs_list",
        responses=answers({200: paged(JobRowSerializer)}, 404, 422),
        parameters=[
            QUEUE,
            OpenApiParameter("job", description="Part of the name."),
            ordering_parameter(orders),
            PAGE,
            PAGE_SIZE,
        ],
    )
    def get(self, request: Request, forecast_id: UUID) -> Response:
        """Return the life of each job: waits, evictions, lost run time."""
        refuse_unknown(request.query_params, {*OF_LISTS, "queue", "job"})
        queue, words = request.query_params.get("queue"), request.query_params.get("job", "")
        rows = [
            row
            for row in job_rows(record_of(self.ended()))
            if (queue is None or row.queue == queue) and words in row.job
        ]
        return self.listed(request, rows, JobRowSerializer, self.orders)
