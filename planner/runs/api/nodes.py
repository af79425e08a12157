"""API calls about the nodes of a run, and about where one more pod would fit."""

from typing import Any
from uuid import UUID

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers, status
from rest_framework.exceptions import ErrorDetail, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from planner.api.access import WorkspaceView, is_dry, saved_unless_dry
from planner.api.bodies import Body
from planner.api.filters import ORDERING, ordering_parameter, refuse_unknown
from planner.api.idempotency import once
from planner.api.pagination import Pages
from planner.api.schema import DRY_RUN, IDEMPOTENCY_KEY, PREFER, answers, paged
from planner.api.serializers import AmountsField
from planner.api.tables import TableView
from planner.api.waiting import wait_until_over
from planner.runs.api.serializers.runs import RunSerializer
from planner.runs.selectors.nodes import ORDERS, node_found, nodes_in_order, pool_heats
from planner.runs.selectors.searches import Fitting, Refused, fitting_found, newest_fitting
from planner.runs.services.searches import fitting_create
from planning.amounts import read_amounts
from planning.fitting import MOMENTS, Probe
from planning.heat import NodeHeat

PREFIX = "requests."
_NO_QUANTITY = ErrorDetail("Write a quantity as in a manifest: 8, 500m, 32Gi.", "invalid")


class NodeHeatSerializer(serializers.Serializer[NodeHeat]):
    """A node once evicted pods are gone and pipelined ones run."""

    node = serializers.CharField()
    pool = serializers.CharField()
    total = AmountsField()
    used = AmountsField()
    free = AmountsField()
    pods = serializers.IntegerField()
    queues = serializers.DictField(child=serializers.IntegerField(), help_text="Its pods by queue.")
    fits = serializers.IntegerField(
        allow_null=True,
        help_text="How many pods of the request fit into its free amounts; null without a request.",
    )


class ProbeSerializer(Body):
    """A pod to find a place for."""

    queue = serializers.CharField()
    requests = serializers.DictField(child=serializers.CharField(), help_text="As in a manifest.")
    selector = serializers.DictField(child=serializers.CharField(), required=False, help_text="nodeSelector.")
    tolerates = serializers.BooleanField(required=False, help_text="Whether it tolerates every taint.")
    at = serializers.ChoiceField(
        choices=MOMENTS,
        required=False,
        help_text="`end` (default): once the run is over; `start`: before it.",
    )


class NodeAnswerSerializer(serializers.Serializer[Any]):
    """The answer of one node for the pod."""

    name = serializers.CharField()
    fits = serializers.BooleanField()
    now = serializers.BooleanField(help_text="False: only once evicted pods are gone.")
    score = serializers.FloatField(allow_null=True)
    reasons = serializers.ListField(child=serializers.CharField())


class RefusedSerializer(serializers.Serializer[Refused]):
    """How many nodes reject the pod for one reason."""

    reason = serializers.CharField()
    nodes = serializers.IntegerField()


class FittingSerializer(serializers.Serializer[Fitting]):
    """On which nodes the pod would be placed; `chosen` is the one that allocate takes."""

    probe = ProbeSerializer()
    refusal = serializers.CharField(help_text="Why plugins reject the pod before any node is examined.")
    queue = serializers.DictField(
        allow_null=True, help_text="Why its queue has no room; null if it has room."
    )
    chosen = serializers.CharField(allow_null=True)
    refused = RefusedSerializer(many=True)
    nodes = NodeAnswerSerializer(many=True)


class SearchedFitting(serializers.Serializer[Any]):
    """A search for a place, and its result once there is one."""

    search = RunSerializer(allow_null=True, help_text="Null if no search was started in this run.")
    found = FittingSerializer(allow_null=True)


class RunNodes(TableView):
    """The nodes at the end of a run."""

    parameters = None

    @extend_schema(
        responses=answers({200: paged(NodeHeatSerializer)}, 404, 422),
        parameters=[
            OpenApiParameter("pool"),
            OpenApiParameter("words", description="Part of the name of a node, pool or queue."),
            OpenApiParameter(
                "resource", description="The resource by whose amounts `used` and `free` order; default cpu."
            ),
            OpenApiParameter("requests.cpu", description="With `requests.…` of any resource: counts `fits`."),
            ordering_parameter(ORDERS),
            OpenApiParameter("page", int),
            OpenApiParameter("page_size", int),
        ],
    )
    def get(self, request: Request, run_id: UUID) -> Response:
        """Return how full each node is, and how many pods of a request would fit on it."""
        run, params = self.run(), request.query_params
        named = {name for name in params if name.startswith(PREFIX)}
        known = {"pool", "words", "resource", ORDERING, "page", "page_size", "fields", "format"}
        refuse_unknown(params, known | named)
        needed = read_amounts({name.removeprefix(PREFIX): params[name] for name in named})
        wrong = {name: _NO_QUANTITY for name in sorted(named) if name.removeprefix(PREFIX) not in needed}
        order = params.get(ORDERING, "")
        if order.removeprefix("-") not in ("", *ORDERS):
            wrong[ORDERING] = ErrorDetail(
                f"One of {', '.join(ORDERS)}, each also with a -.", "invalid_choice"
            )
        if wrong:
            raise ValidationError(wrong)
        held = {name: value for name, value in needed.items() if value}
        pools = pool_heats(run, held or None)
        pool, words = params.get("pool", ""), params.get("words", "")
        found = [node for of in pools for node in of.nodes if node_found(node, pool, words)]
        rows = nodes_in_order(found, order, params.get("resource", "cpu"))
        pages = Pages()
        page = pages.paginate_queryset(rows, request, self)
        body = [NodeHeatSerializer(node).data for node in page or ()]
        return pages.get_paginated_response(body)


class RunFit(WorkspaceView):
    """Where one more pod would fit."""

    @extend_schema(responses=answers({200: SearchedFitting}, 404))
    def get(self, request: Request, run_id: UUID) -> Response:
        """Return the newest search and its result."""
        search = newest_fitting(self.run())
        found = fitting_found(search) if search else None
        return Response(SearchedFitting({"search": search, "found": found}).data)

    @extend_schema(
        request=ProbeSerializer,
        responses=answers({202: SearchedFitting}, 400, 403, 404, 422),
        parameters=[DRY_RUN, IDEMPOTENCY_KEY, PREFER],
    )
    @once
    def post(self, request: Request, run_id: UUID) -> Response:
        """Start a search for the nodes that a pod fits on, by the scheduler's own predicates."""
        run = self.run()
        serializer = ProbeSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        probe = Probe(**serializer.validated_data)
        with saved_unless_dry(request):
            search = fitting_create(run=run, probe=probe, user=self.user)
        if is_dry(request):
            return Response(SearchedFitting({"search": search, "found": None}).data)
        headers = wait_until_over(request, search)
        body = {"search": search, "found": fitting_found(search)}
        return Response(SearchedFitting(body).data, status.HTTP_202_ACCEPTED, headers=headers)
