"""What does the schema say about parameters and failures that many calls share?"""

from collections.abc import Mapping
from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, inline_serializer
from rest_framework import serializers

from planner.api.serializers import ErrorSerializer, StaleSerializer

DRY_RUN = OpenApiParameter(
    "dry_run", OpenApiTypes.BOOL, description="Check and answer as if done, and save nothing."
)
IF_MATCH = OpenApiParameter(
    "If-Match",
    OpenApiTypes.STR,
    OpenApiParameter.HEADER,
    required=True,
    description="The ETag of the revision that this edit saw, with or without quotes.",
)
ETAG = OpenApiParameter(
    "ETag",
    OpenApiTypes.STR,
    OpenApiParameter.HEADER,
    response=[200, 201],
    description="The scenario's revision.",
)

IDEMPOTENCY_KEY = OpenApiParameter(
    "Idempotency-Key",
    OpenApiTypes.STR,
    OpenApiParameter.HEADER,
    description="The caller's own; the same call again within 24 h is answered as it was.",
)
WORKSPACE = OpenApiParameter(
    "workspace",
    OpenApiTypes.UUID,
    description="Where it goes: without it to the first that the caller may edit.",
)
PREFER = OpenApiParameter(
    "Prefer",
    OpenApiTypes.STR,
    OpenApiParameter.HEADER,
    description="`wait=N`: answer when the run or the import is over, or after N seconds (at most 30).",
)

DRY_ANSWER = OpenApiResponse(OpenApiTypes.OBJECT, "A dry run: what would be made; its id is null.")

FAILURES: dict[int, OpenApiResponse] = {
    400: OpenApiResponse(ErrorSerializer, "The body or a header cannot be read."),
    401: OpenApiResponse(ErrorSerializer, "Nobody is logged in."),
    403: OpenApiResponse(ErrorSerializer, "The caller's role does not allow it."),
    404: OpenApiResponse(ErrorSerializer, "There is no such thing in the caller's workspace."),
    412: OpenApiResponse(StaleSerializer, "The scenario has moved on since; both versions are here."),
    413: OpenApiResponse(ErrorSerializer, "The body is too large."),
    422: OpenApiResponse(ErrorSerializer, "Every problem that stands in the way; nothing was saved."),
    428: OpenApiResponse(ErrorSerializer, "If-Match is missing."),
    429: OpenApiResponse(ErrorSerializer, "Too many writing calls; Retry-After says how long to wait."),
}


def answers(success: Mapping[Any, Any], *failures: int) -> dict[Any, Any]:
    """Return the responses of a call: `success`, the failures named, and that of a stranger.

    What would make something answers a dry run with 200.
    """
    dry = {200: DRY_ANSWER} if {201, 202} & success.keys() else {}
    return {**dry, **success} | {status: FAILURES[status] for status in sorted({401, *failures})}


def listed(serializer: Any) -> dict[int, Any]:
    """Return the responses of a list."""
    return answers({200: serializer(many=True)}, 404, 422)


def paged(serializer: type[serializers.Serializer[Any]]) -> serializers.Serializer[Any]:
    """Return how a page of a list looks whose rows are no queryset."""
    return inline_serializer(
        f"Paged{serializer.__name__.removesuffix('Serializer')}List",
        {
            "count": serializers.IntegerField(),
            "next": serializers.URLField(allow_null=True),
            "previous": serializers.URLField(allow_null=True),
            "results": serializer(many=True),
        },
    )
