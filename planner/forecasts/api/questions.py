"""API calls about a finished forecast: a moment as a scenario, comparison, cost, backtests."""

from typing import Any
from uuid import UUID

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import status
from rest_framework.exceptions import ErrorDetail, NotFound, ValidationError
from rest_framework.generics import get_object_or_404
from rest_framework.request import Request
from rest_framework.response import Response

from planner.api.access import OneWorkspace, made, saved_unless_dry
from planner.api.filters import ordering_parameter, refuse_unknown
from planner.api.idempotency import first_answer, once
from planner.api.schema import DRY_RUN, IDEMPOTENCY_KEY, answers, paged
from planner.api.serializers import ScenarioSerializer
from planner.api.tables import is_table
from planner.clusters.selectors.snapshots import snapshots
from planner.forecasts.api.comparison_serializers import ForecastComparisonSerializer
from planner.forecasts.api.evaluation_serializers import (
    BacktestCreate,
    BacktestSerializer,
    CostsSerializer,
    PricedComparison,
    PricesSerializer,
)
from planner.forecasts.api.forecasts import OF_LISTS, PAGE, PAGE_SIZE, ForecastTable, ForecastView
from planner.forecasts.api.serializers import MomentOpen
from planner.forecasts.models import Backtest, Forecast
from planner.forecasts.selectors.backtests import backtests_beside
from planner.forecasts.selectors.forecasts import changes_over_seeds, get_forecast, record_of
from planner.forecasts.selectors.prices import costs_of, costs_of_both, prices_of
from planner.forecasts.services.backtests import backtest_measure, backtest_store
from planner.forecasts.services.moments import moment_open
from planner.forecasts.services.prices import prices_set
from planning.forecasts.chargeback import costs_body
from planning.forecasts.comparison import compared, cost_against_benefit
from planning.forecasts.costs import Costs, Prices, costs

WITH = OpenApiParameter("with", OpenApiTypes.UUID, required=True, description="The later forecast.")
LONGEST = 1000
"""The most pairs of jobs in a response, largest differences first; a table has all."""


class ForecastMoment(ForecastView):
    """A moment of a forecast."""

    @extend_schema(
        request=MomentOpen,
        responses=answers({201: ScenarioSerializer}, 400, 403, 404, 422),
        parameters=[DRY_RUN, IDEMPOTENCY_KEY],
    )
    @once
    def post(self, request: Request, forecast_id: UUID) -> Response:
        """Create a scenario of the cluster as the first session at or after a time finds it."""
        forecast = self.ended()
        serializer = MomentOpen(data=request.data)
        serializer.is_valid(raise_exception=True)
        with saved_unless_dry(request):
            scenario = moment_open(forecast=forecast, user=self.user, **serializer.validated_data)
        return made(request, ScenarioSerializer(scenario).data, status.HTTP_201_CREATED)


class ForecastComparison(ForecastTable):
    """Two forecasts of the same work."""

    rows_in = "pairs"
    needed = None
    parameters = ("with",)

    @extend_schema(responses=answers({200: ForecastComparisonSerializer}, 404, 422), parameters=[WITH])
    def get(self, request: Request, forecast_id: UUID) -> Response:
        """Return which jobs wait longer and shorter in another forecast, job by job."""
        before = self.ended()
        try:
            after = UUID(request.query_params.get("with", ""))
        except ValueError:
            raise ValidationError({"with": [ErrorDetail("Name a forecast by its id.", "invalid")]}) from None
        return self._compared(request, before, after, prices_of(before.workspace))

    @extend_schema(
        request=PricedComparison, responses=answers({200: ForecastComparisonSerializer}, 400, 404, 422)
    )
    def post(self, request: Request, forecast_id: UUID) -> Response:
        """Return the same with costs by the given prices; nothing is stored."""
        before = self.ended()
        serializer = PricedComparison(data=request.data)
        serializer.is_valid(raise_exception=True)
        given = serializer.validated_data
        return self._compared(request, before, given["with"], Prices(**given["prices"]))

    def _compared(self, request: Request, before: Forecast, other: UUID, prices: Prices | None) -> Response:
        try:
            after = get_forecast(self.user, other)
        except Forecast.DoesNotExist:
            raise NotFound from None
        if after.state != Forecast.State.SUCCEEDED:
            raise NotFound(f"The forecast is {after.state} and has no result.", "no_result")
        found = compared(record_of(before), record_of(after))
        pairs = sorted(found.pairs, key=lambda pair: (-abs(pair.longer), pair.job))
        paid = costs_of_both(before, after, prices)
        body: dict[str, Any] = {
            **{name: getattr(found, name) for name in ("hours", "queues", "only_before", "only_after")},
            "evictions": found.evictions,
            "lost": found.lost,
            "fairness": found.fairness,
            "sentence": cost_against_benefit(found, paid),
            "cost": _paid(paid),
            "seeds": changes_over_seeds(before, after),
            "pairs": pairs if is_table(request) else pairs[:LONGEST],
        }
        return Response(ForecastComparisonSerializer(body).data)


def _paid(paid: tuple[Costs, Costs] | None) -> dict[str, Any] | None:
    if paid is None:
        return None
    before, after = paid
    nodes = {"before": before.nodes, "after": after.nodes, "change": after.nodes - before.nodes}
    return {"currency": after.currency, **nodes}


class WorkspacePrices(OneWorkspace):
    """What the nodes of a workspace cost."""

    @extend_schema(responses=answers({200: PricesSerializer}, 404))
    def get(self, request: Request, workspace_id: UUID) -> Response:
        """Return the prices per hour; without prices, forecasts have no costs."""
        return Response(PricesSerializer(prices_of(self.workspace()) or Prices()).data)

    @extend_schema(
        request=PricesSerializer,
        responses=answers({200: PricesSerializer}, 400, 403, 404, 422),
        parameters=[DRY_RUN],
    )
    def put(self, request: Request, workspace_id: UUID) -> Response:
        """Replace the prices, which changes the costs of all forecasts."""
        workspace = self.workspace()
        serializer = PricesSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        with saved_unless_dry(request):
            kept = prices_set(workspace=workspace, user=self.user, **serializer.validated_data)
        return Response(PricesSerializer(kept).data)


class ForecastBacktests(ForecastTable):
    """The accuracy of forecasts."""

    parameters = None
    orders = ("created",)

    @extend_schema(
        operation_id="forecasts_backtests_list",
        responses=answers({200: paged(BacktestSerializer)}, 404, 422),
        parameters=[PAGE, PAGE_SIZE, ordering_parameter(orders)],
    )
    def get(self, request: Request, forecast_id: UUID) -> Response:
        """Return the backtests of this forecast and of all others of its cluster, newest first."""
        refuse_unknown(request.query_params, OF_LISTS)
        rows = list(backtests_beside(self.forecast()).select_related("owner"))
        return self.listed(request, rows, BacktestSerializer, self.orders)

    @extend_schema(
        request=BacktestCreate,
        responses=answers({201: BacktestSerializer}, 400, 403, 404, 422),
        parameters=[DRY_RUN, IDEMPOTENCY_KEY],
    )
    def post(self, request: Request, forecast_id: UUID) -> Response:
        """Compare a forecast with what really happened according to a later snapshot of its cluster."""
        forecast = self.ended()
        if first := first_answer(request):
            return first
        serializer = BacktestCreate(data=request.data)
        serializer.is_valid(raise_exception=True)
        snapshot = get_object_or_404(snapshots(self.user), pk=serializer.validated_data["snapshot"])
        measured = backtest_measure(forecast=forecast, snapshot=snapshot, user=self.user)
        return self._stored(request, measured)

    @once
    def _stored(self, request: Request, measured: Backtest) -> Response:
        """Store a backtest."""
        with saved_unless_dry(request):
            stored = backtest_store(backtest=measured)
        return made(request, BacktestSerializer(stored).data, status.HTTP_201_CREATED)


class ForecastCost(ForecastTable):
    """The cost of a forecast."""

    rows_in = "queues"
    needed = None

    @extend_schema(responses=answers({200: CostsSerializer}, 404))
    def get(self, request: Request, forecast_id: UUID) -> Response:
        """Return the cost of each queue by the prices of the workspace."""
        found = costs_of(self.ended())
        if found is None:
            raise NotFound("The workspace has no prices.", "no_prices")
        return Response(_body(found))

    @extend_schema(request=PricesSerializer, responses=answers({200: CostsSerializer}, 400, 404, 422))
    def post(self, request: Request, forecast_id: UUID) -> Response:
        """Return the cost of each queue by the given prices; nothing is stored."""
        forecast = self.ended()
        serializer = PricesSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        return Response(_body(costs(record_of(forecast), Prices(**serializer.validated_data))))


def _body(found: Costs) -> dict[str, Any]:
    return CostsSerializer(costs_body(found)).data
