"""Schema parts that many calls share: parameters and errors."""

from collections.abc import Mapping
from functools import cache
from typing import Any

from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.renderers import OpenApiJsonRenderer, OpenApiJsonRenderer2, OpenApiYamlRenderer
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, inline_serializer
from drf_spectacular.views import SpectacularAPIView
from rest_framework import serializers

from planner.api.serializers import ErrorSerializer, StaleSerializer

REVISION = r'^\s*(?:W/)?(?:"[0-9]{1,9}"|[0-9]{1,9})\s*$'
"""The pattern of a revision's tag, strong or weak, with or without quotes."""

DRY_RUN = OpenApiParameter(
    "dry_run", OpenApiTypes.BOOL, description="Validate and respond as usual, but save nothing."
)
IF_MATCH = OpenApiParameter(
    "If-Match",
    {"type": "string", "pattern": REVISION},
    OpenApiParameter.HEADER,
    required=True,
    description="The ETag of the revision that the edit is based on, with or without quotes.",
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
    description="Chosen by the caller; repeating the call within 24 h returns the first response.",
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
    description="`wait=N`: respond when the run or import is finished, or after N seconds (at most 30).",
)

DRY_ANSWER = OpenApiResponse(OpenApiTypes.OBJECT, "Dry run: the object that would be created, with id null.")

FAILURES: dict[int, OpenApiResponse] = {
    400: OpenApiResponse(ErrorSerializer, "The body or a header cannot be read."),
    401: OpenApiResponse(ErrorSerializer, "Not authenticated."),
    403: OpenApiResponse(ErrorSerializer, "The caller's role does not allow it."),
    404: OpenApiResponse(ErrorSerializer, "Not found in the caller's workspaces."),
    412: OpenApiResponse(StaleSerializer, "The scenario has changed since; both versions are included."),
    413: OpenApiResponse(ErrorSerializer, "The body is too large."),
    422: OpenApiResponse(ErrorSerializer, "Invalid: all problems are listed, and nothing was saved."),
    428: OpenApiResponse(ErrorSerializer, "If-Match is missing."),
    429: OpenApiResponse(ErrorSerializer, "Too many writes; Retry-After says how long to wait."),
}


class SchemaOfAll(SchemaGenerator):
    """The schema, generated once per process: it is the same for everybody and takes seconds."""

    def get_schema(self, request: Any = None, public: bool = False) -> Any:
        """Return the schema, read-only."""
        return _schema()


@cache
def _schema() -> Any:
    generator = SchemaGenerator()  # type: ignore[no-untyped-call]
    return generator.get_schema(request=None, public=True)  # type: ignore[no-untyped-call]


class SchemaInYaml(OpenApiYamlRenderer):
    """The schema in YAML, written once per process: it takes a fourth of a second."""

    def render(self, data: Any, *media_type_and_context: Any) -> bytes:
        """Return the schema, or an error, in YAML."""
        return _schema_in_yaml() if data is _schema() else _in_yaml(data)


class SchemaAsYaml(SchemaInYaml):
    """The same under the registered media type."""

    media_type = "application/yaml"


@cache
def _schema_in_yaml() -> bytes:
    return _in_yaml(_schema())


def _in_yaml(data: Any) -> bytes:
    written: bytes = OpenApiYamlRenderer().render(data)  # type: ignore[no-untyped-call]
    return written


class Schema(SpectacularAPIView):
    """Returns the schema in YAML or JSON."""

    generator_class = SchemaOfAll
    renderer_classes = [SchemaInYaml, SchemaAsYaml, OpenApiJsonRenderer, OpenApiJsonRenderer2]


def answers(success: Mapping[Any, Any], *failures: int) -> dict[Any, Any]:
    """Return the responses of a call: `success`, the given errors, authentication and parameter errors.

    Create calls answer a dry run with 200.
    """
    dry = {200: DRY_ANSWER} if {201, 202} & success.keys() else {}
    return {**dry, **success} | {status: FAILURES[status] for status in sorted({401, 422, *failures})}


def listed(serializer: Any) -> dict[int, Any]:
    """Return the responses of a list."""
    return answers({200: serializer(many=True)}, 404, 422)


def paged(serializer: type[serializers.Serializer[Any]]) -> serializers.Serializer[Any]:
    """Return the schema of a page of a list that is no queryset."""
    return inline_serializer(
        f"Paged{serializer.__name__.removesuffix('Serializer')}List",
        {
            "count": serializers.IntegerField(),
            "next": serializers.URLField(allow_null=True),
            "previous": serializers.URLField(allow_null=True),
            "results": serializer(many=True),
        },
    )
