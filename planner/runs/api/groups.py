"""API calls that count the rows of a run's lists by queue, reason, resource and so on."""

from collections.abc import Callable
from typing import Any, ClassVar
from uuid import UUID

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.exceptions import ErrorDetail, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from planner.api.filters import ORDERING, refuse_unknown
from planner.api.schema import answers
from planner.api.tables import TableView
from planner.runs.selectors.lists import LISTS, Group

BY = "by"


class GroupSerializer(serializers.Serializer[Group]):
    """Rows with the same value of one field; fields that do not apply to the list are null."""

    value = serializers.CharField(help_text="The value that they have in common; may be empty.")
    rows = serializers.IntegerField()
    pods = serializers.IntegerField(
        help_text="The pods of the jobs; in other lists the number of different pods."
    )
    pending = serializers.IntegerField(allow_null=True, help_text="Waiting pods of the jobs.")
    work_lost_seconds = serializers.FloatField(
        allow_null=True, help_text="The total run time of the evicted pods, where it is known."
    )
    work_unknown = serializers.IntegerField(allow_null=True, help_text="Evictions of unknown run time.")


class GroupsSerializer(serializers.Serializer[Any]):
    """The rows of a list in groups."""

    by = serializers.CharField()
    rows = serializers.IntegerField(help_text="How many rows match the filters.")
    groups = GroupSerializer(many=True)


class _Groups(TableView):
    """The rows of a list, grouped; takes the filters of the list."""

    parameters = None
    rows_in = "groups"
    of: ClassVar[str]

    def answer(self, request: Request) -> Response:
        """Return the groups that the query names."""
        listed, run = LISTS[self.of], self.run()
        known = {*listed.filters.base_filters, BY, "format", "fields"} - {ORDERING}
        refuse_unknown(request.query_params, known)
        by = request.query_params.get(BY, "")
        if by not in listed.groups:
            message = f"One of {', '.join(listed.groups)}."
            raise ValidationError({BY: [ErrorDetail(message, "invalid_choice")]})
        chosen = listed.filters(request.query_params, queryset=listed.rows_of(run))
        if not chosen.is_valid():
            raise ValidationError(chosen.errors)
        found = listed.grouped(chosen.qs, by)
        body = {"by": by, "rows": sum(group.rows for group in found), "groups": found}
        return Response(GroupsSerializer(body).data)


def _described(of: str) -> Callable[[Any], Any]:
    """Return the schema of the groups of a list."""
    listed = LISTS[of]
    parameters = [
        OpenApiParameter(BY, str, required=True, enum=listed.groups, description="The field to group by."),
        *(OpenApiParameter(name, str) for name in listed.filters.base_filters if name != ORDERING),
    ]
    return extend_schema(parameters=parameters, responses=answers({200: GroupsSerializer}, 404, 422))


class JobGroups(_Groups):
    """The jobs of a run, grouped."""

    of = "jobs"

    @_described("jobs")
    def get(self, request: Request, run_id: UUID) -> Response:
        """Count jobs and waiting pods by reason, queue, resource or phase."""
        return self.answer(request)


class VictimGroups(_Groups):
    """The victims of a run, grouped."""

    of = "victims"

    @_described("victims")
    def get(self, request: Request, run_id: UUID) -> Response:
        """Count victims by queue, job, node, action or outcome."""
        return self.answer(request)


class DecisionGroups(_Groups):
    """The decisions of a run, grouped."""

    of = "decisions"

    @_described("decisions")
    def get(self, request: Request, run_id: UUID) -> Response:
        """Count decisions by action, kind, job, node, outcome or cycle."""
        return self.answer(request)
