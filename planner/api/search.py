"""API call that finds scenarios, runs, queues, jobs, pods and nodes by name."""

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from planner.api.access import WorkspaceView
from planner.api.schema import answers
from planner.web.selectors.search import Found, Hit, search

KINDS = ("scenario", "run", "queue", "job", "pod", "node", "help")
WORDS = OpenApiParameter("q", required=True, description="Part of the name, at least two letters.")
RUN = OpenApiParameter(
    "run",
    OpenApiTypes.UUID,
    description="The run whose queues, jobs, pods and nodes are searched; default: the newest one.",
)


class HitSerializer(serializers.Serializer[Hit]):
    """An object with the words in its name."""

    kind = serializers.ChoiceField(choices=KINDS)
    name = serializers.CharField()
    about = serializers.CharField()
    address = serializers.CharField(help_text="The path of its page.")


class FoundSerializer(serializers.Serializer[Found]):
    """The matching objects, nearest names of each kind."""

    run = serializers.UUIDField(source="run.pk", allow_null=True, default=None)
    hits = HitSerializer(many=True)


class Search(WorkspaceView):
    """Search by name."""

    parameters = ("q", "run")

    @extend_schema(responses=answers({200: FoundSerializer}, 422), parameters=[WORDS, RUN])
    def get(self, request: Request) -> Response:
        """Find scenarios, runs, queues, jobs, pods, nodes and help by a part of the name."""
        serializer = _SearchQuery(data=request.query_params)
        serializer.is_valid(raise_exception=True)
        found = search(self.user, serializer.validated_data["q"], serializer.validated_data.get("run"))
        return Response(FoundSerializer(found).data)


class _SearchQuery(serializers.Serializer[None]):
    """The parameters of a search."""

    q = serializers.CharField(min_length=2)
    run = serializers.UUIDField(required=False)
