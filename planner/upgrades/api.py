"""API calls about the impact of an upgrade."""

from typing import Any
from uuid import UUID

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from planner.api.access import WorkspaceView, is_dry, saved_unless_dry
from planner.api.bodies import Body
from planner.api.idempotency import once
from planner.api.schema import DRY_RUN, IDEMPOTENCY_KEY, answers
from planner.runs.models import Run
from planner.upgrades.selectors import impact_found, impact_of, release_of_run, usual_target
from planner.upgrades.services import impact_create

_LONGEST = 40


class Releases(Body):
    """The releases before and after an upgrade."""

    to = serializers.CharField(max_length=_LONGEST, help_text="The release to upgrade to, such as v1.15.1.")

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        """Add `from`, which is a Python keyword."""
        before = serializers.CharField(
            max_length=_LONGEST, required=False, help_text="The present release; default: the run's."
        )
        return {"from": before, **super().get_fields()}


class CauseSerializer(serializers.Serializer[Any]):
    """A rule that differs between the two releases and changes something here."""

    id = serializers.CharField()
    part = serializers.CharField(help_text="The plugin or action that it concerns.")
    since = serializers.CharField()
    pull_requests = serializers.ListField(child=serializers.IntegerField())
    before = serializers.CharField(help_text="The behaviour of the release before.")
    after = serializers.CharField(help_text="The behaviour of the release after.")


class ChangedSerializer(serializers.Serializer[Any]):
    """The values of one object under the two releases."""

    kind = serializers.ChoiceField(choices=["scenario", "pod", "job", "queue"])
    name = serializers.CharField(allow_blank=True)
    what = serializers.CharField()
    before = serializers.JSONField(allow_null=True)
    after = serializers.JSONField(allow_null=True)
    rules = serializers.ListField(child=serializers.CharField())
    together = serializers.BooleanField(
        help_text="Whether it takes all rules; otherwise each alone is a cause."
    )


class ImpactSerializer(serializers.Serializer[Any]):
    """The impact of an upgrade; unknown values are null, all of them before it was requested."""

    id = serializers.UUIDField(source="pk", allow_null=True)
    state = serializers.ChoiceField(choices=Run.State.choices, allow_null=True)
    progress = serializers.FloatField()
    error = serializers.CharField(allow_blank=True)
    to = serializers.CharField(source="new_release")
    verdict = serializers.CharField(allow_null=True)
    notes = serializers.ListField(
        child=serializers.CharField(),
        allow_null=True,
        help_text="What was assumed, and which differences between the releases were not compared.",
    )
    causes = CauseSerializer(many=True, allow_null=True)
    differences = ChangedSerializer(many=True, allow_null=True)
    markdown = serializers.CharField(allow_null=True, help_text="A report for a change ticket.")

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        """Add `from`, which is a Python keyword."""
        return {"from": serializers.CharField(source="old_release"), **super().get_fields()}


_FACTS = ("pk", "state", "progress", "error", "old_release", "new_release")
_FOUND = ("verdict", "notes", "causes", "differences", "markdown")


def _body(impact: Run) -> Any:
    found = impact_found(impact)
    body = {name: getattr(impact, name) for name in _FACTS} | {
        name: getattr(found, name) if found else None for name in _FOUND
    }
    return ImpactSerializer(body).data


def _nothing(old: str, new: str) -> Any:
    """Return the response before an impact was requested."""
    unknown = dict.fromkeys((*_FACTS, *_FOUND)) | {"progress": 0.0, "error": ""}
    return ImpactSerializer({**unknown, "old_release": old, "new_release": new}).data


class RunUpgrade(WorkspaceView):
    """The impact of an upgrade of Volcano on the input of a run."""

    parameters = ("from", "to")

    @extend_schema(
        responses=answers({200: ImpactSerializer}, 404),
        parameters=[
            OpenApiParameter("from", str, description="The release before; default: the run's."),
            OpenApiParameter("to", str, description="The release after; default: the next known one."),
        ],
    )
    def get(self, request: Request, run_id: UUID) -> Response:
        """Return the impact of an upgrade, or the progress of its simulation."""
        run = self.run()
        old = request.query_params.get("from") or release_of_run(run)
        new = request.query_params.get("to") or usual_target(old)
        impact = impact_of(run, old, new)
        return Response(_body(impact) if impact else _nothing(old, new))

    @extend_schema(
        request=Releases,
        responses=answers({202: ImpactSerializer}, 400, 403, 404, 422),
        parameters=[DRY_RUN, IDEMPOTENCY_KEY],
    )
    @once
    def post(self, request: Request, run_id: UUID) -> Response:
        """Request the impact of an upgrade; a running or known one is not repeated."""
        run = self.run()
        serializer = Releases(data=request.data)
        serializer.is_valid(raise_exception=True)
        old = serializer.validated_data.get("from") or release_of_run(run)
        with saved_unless_dry(request):
            impact = impact_create(run=run, old=old, new=serializer.validated_data["to"], user=self.user)
        return Response(_body(impact), 200 if is_dry(request) else 202)
