"""API calls that start and follow experiments and return their results."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.db.models import Q, QuerySet
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_view
from rest_framework import serializers, status
from rest_framework.exceptions import ErrorDetail, ValidationError
from rest_framework.generics import get_object_or_404
from rest_framework.request import Request
from rest_framework.response import Response

from planner.api.access import WorkspaceView, made, saved_unless_dry
from planner.api.bodies import Body
from planner.api.filters import (
    in_requested_order,
    is_requested,
    ordering_parameter,
    refuse_fractions,
    refuse_unknown,
)
from planner.api.idempotency import first_answer, once
from planner.api.pagination import Pages
from planner.api.schema import DRY_RUN, IDEMPOTENCY_KEY, answers, listed, paged
from planner.api.serializers import ScenarioSerializer
from planner.api.tables import TableList, TableView, is_table
from planner.clusters.selectors.snapshots import snapshots
from planner.experiments.api.filters import ExperimentFilter
from planner.experiments.api.serializers import (
    CellForecastSerializer,
    CellSerializer,
    ExperimentCreate,
    ExperimentDetailSerializer,
    ExperimentSerializer,
)
from planner.experiments.models import Experiment
from planner.experiments.selectors.cells import Cells
from planner.experiments.selectors.experiments import experiments
from planner.experiments.services.cells import (
    CellForecastPlan,
    CellPlan,
    cell_forecast,
    cell_forecast_plan,
    cell_open,
    cell_plan,
)
from planner.experiments.services.experiments import (
    ExperimentPlan,
    experiment_delete,
    experiment_plan,
    experiment_plan_on_snapshot,
    experiment_queue,
)
from planner.experiments.services.settling import experiment_cancel
from planner.scenarios.selectors.scenarios import scenarios

FRONT = OpenApiParameter("front", OpenApiTypes.BOOL, description="Only the cells of the Pareto front.")
PAGE = OpenApiParameter("page", OpenApiTypes.INT)
PAGE_SIZE = OpenApiParameter("page_size", OpenApiTypes.INT)
_OF_LISTS = {"page", "page_size", "fields", "format", "ordering", "front"}


@extend_schema_view(get=extend_schema(responses=listed(ExperimentSerializer)))
class ExperimentList(TableList):
    """The experiments of the workspaces, newest first."""

    queryset = Experiment.objects.none()
    serializer_class = ExperimentSerializer
    filterset_class = ExperimentFilter

    def get_queryset(self) -> QuerySet[Experiment]:
        """Return the experiments that the caller may see."""
        return experiments(self.user)

    @extend_schema(
        request=ExperimentCreate,
        responses=answers({202: ExperimentDetailSerializer}, 400, 403, 404, 422),
        parameters=[DRY_RUN, IDEMPOTENCY_KEY],
        filters=False,
    )
    def post(self, request: Request) -> Response:
        """Freeze the scenario's current revision and queue a sweep or a search over it.

        The body is what `queuecast sweep` and `queuecast search` read from a file; `goals` make it a search.
        """
        serializer = ExperimentCreate(data=request.data)
        serializer.is_valid(raise_exception=True)
        body, written = serializer.validated_data, dict(request.data)
        return first_answer(request) or self._queued(request, self._plan(body, written))

    def _plan(self, body: Mapping[str, Any], written: Mapping[str, Any]) -> ExperimentPlan:
        """Return the experiment of a body, on its scenario, or on a new one on its snapshot."""
        if "scenario" in body:
            scenario = _newest(scenarios(self.user), body["scenario"], "scenario")
            return experiment_plan(scenario=scenario, written=written, user=self.user)
        snapshot = _newest(snapshots(self.user), body["snapshot"], "snapshot")
        return experiment_plan_on_snapshot(
            snapshot=snapshot, name=body["name"], written=written, user=self.user
        )

    @once
    def _queued(self, request: Request, plan: ExperimentPlan) -> Response:
        """Queue a planned experiment."""
        with saved_unless_dry(request):
            body = ExperimentDetailSerializer(experiment_queue(plan=plan, user=self.user)).data
        return made(request, body, status.HTTP_202_ACCEPTED)


def _newest(rows: QuerySet[Any], name: str, what: str) -> Any:
    """Return the newest row with this name or id, or answer 422."""
    try:
        named = Q(pk=UUID(name))
    except ValueError:
        named = Q(name=name)
    found = rows.filter(named).order_by("-created").first()
    if found is None:
        raise ValidationError({what: [ErrorDetail(f"There is no {what} {name!r}.", "does_not_exist")]})
    return found


class ExperimentView(WorkspaceView):
    """A call about one experiment."""

    def experiment(self) -> Experiment:
        """Return the requested experiment, or answer 404."""
        return get_object_or_404(experiments(self.user), pk=self.kwargs["experiment_id"])


class ExperimentDetail(ExperimentView):
    """One experiment."""

    @extend_schema(responses=answers({200: ExperimentDetailSerializer}, 404))
    def get(self, request: Request, experiment_id: UUID) -> Response:
        """Return an experiment: its document, its progress, and the result of a search."""
        return Response(ExperimentDetailSerializer(self.experiment()).data)

    @extend_schema(responses=answers({204: None}, 403, 404), parameters=[DRY_RUN])
    def delete(self, request: Request, experiment_id: UUID) -> Response:
        """Delete an experiment with its cells."""
        with saved_unless_dry(request):
            experiment_delete(experiment=self.experiment(), user=self.user)
        return Response(status=status.HTTP_204_NO_CONTENT)


class ExperimentCancel(ExperimentView):
    """Stopping an experiment."""

    @extend_schema(request=None, responses=answers({200: ExperimentDetailSerializer}, 403, 404))
    def post(self, request: Request, experiment_id: UUID) -> Response:
        """Stop an experiment and keep the measured cells; a finished one is left as it is."""
        experiment = experiment_cancel(experiment=self.experiment(), user=self.user)
        return Response(ExperimentDetailSerializer(experiment).data)


class ExperimentCells(ExperimentView, TableView):
    """The known cells of an experiment."""

    parameters = None
    orders = ("number", "price")

    @extend_schema(
        operation_id="experiments_cells_list",
        responses=answers({200: paged(CellSerializer)}, 404, 422),
        parameters=[FRONT, ordering_parameter(orders), PAGE, PAGE_SIZE],
    )
    def get(self, request: Request, experiment_id: UUID) -> Response:
        """Return each measured combination: settings, price and figures; partial results while it runs."""
        refuse_unknown(request.query_params, _OF_LISTS)
        front = is_requested(request, "front")
        known = Cells(self.experiment()).rows
        rows = [row for row in known if front is None or row.front == front]
        ordered = in_requested_order(
            rows, request, {"number": lambda row: row.number, "price": lambda row: row.price}
        )
        if is_table(request):
            refuse_fractions(request.query_params, ("page", "page_size"))
            return Response({"results": CellSerializer(ordered, many=True).data})
        pages = Pages()
        page = pages.paginate_queryset(ordered, request, self)
        return pages.get_paginated_response(CellSerializer(page or (), many=True).data)


class CellOpen(Body):
    """The name of the scenario of a cell."""

    name = serializers.CharField(max_length=253, required=False)


class ExperimentCell(ExperimentView):
    """One cell as a scenario."""

    @extend_schema(
        request=CellOpen,
        responses=answers({201: ScenarioSerializer}, 400, 403, 404, 422),
        parameters=[DRY_RUN, IDEMPOTENCY_KEY],
    )
    def post(self, request: Request, experiment_id: UUID, number: int) -> Response:
        """Create a branch of the experiment's scenario with the settings of a cell as edits."""
        if first := first_answer(request):
            return first
        serializer = CellOpen(data=request.data)
        serializer.is_valid(raise_exception=True)
        sent = serializer.validated_data
        plan = cell_plan(experiment=self.experiment(), number=number, user=self.user, **sent)
        return self._opened(request, plan)

    @once
    def _opened(self, request: Request, plan: CellPlan) -> Response:
        """Create a planned branch."""
        with saved_unless_dry(request):
            scenario = cell_open(plan=plan, user=self.user)
        return made(request, ScenarioSerializer(scenario).data, status.HTTP_201_CREATED)


class ExperimentCellForecast(ExperimentView):
    """One cell as a forecast."""

    @extend_schema(
        request=None,
        responses=answers({201: CellForecastSerializer}, 403, 404, 422),
        parameters=[DRY_RUN, IDEMPOTENCY_KEY],
    )
    def post(self, request: Request, experiment_id: UUID, number: int) -> Response:
        """Create a branch with the settings of a cell, and start the forecast of that cell.

        With several seeds it is the forecast of the first one, whose workload is stored as a trace.
        """
        return first_answer(request) or self._begun(
            request, cell_forecast_plan(experiment=self.experiment(), number=number, user=self.user)
        )

    @once
    def _begun(self, request: Request, plan: CellForecastPlan) -> Response:
        """Start a planned forecast."""
        with saved_unless_dry(request):
            forecast = cell_forecast(plan=plan, user=self.user)
            body = CellForecastSerializer(forecast).data
        return made(request, body, status.HTTP_201_CREATED)
