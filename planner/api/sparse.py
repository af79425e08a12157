"""The parameter `fields` of read calls: `?fields=id,state` returns only these fields."""

from collections.abc import Collection, Mapping
from typing import Any

from drf_spectacular.openapi import AutoSchema
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter
from rest_framework.exceptions import ErrorDetail, ValidationError
from rest_framework.generics import GenericAPIView
from rest_framework.request import Request
from rest_framework.views import APIView

from planner.api.bodies import Body

PARAMETER = "fields"

FIELDS = OpenApiParameter(
    PARAMETER, OpenApiTypes.STR, description="The fields to return, separated by commas; default: all."
)


class SparseSchema(AutoSchema):
    """The schema of a call; every read call accepts `fields`."""

    def get_summary(self) -> str | None:
        """Return the first sentence of a call's description, as plain text for the list of calls."""
        text: str = super().get_summary() or self.get_description() or ""
        return text.partition("\n")[0].rstrip(".").replace("`", "") or None

    def _map_basic_serializer(self, serializer: Any, direction: Any) -> dict[str, Any]:
        """Return the schema of an object; a body has no other keys."""
        schema: dict[str, Any] = super()._map_basic_serializer(serializer, direction)  # type: ignore[no-untyped-call]
        is_body = direction == "request" and isinstance(serializer.root, Body)
        return {**schema, "additionalProperties": False} if is_body else schema

    def get_override_parameters(self) -> list[Any]:
        """Return the parameters of a call, with `fields` if it answers with JSON."""
        declared: list[Any] = super().get_override_parameters()
        is_sparse = self.method == "GET" and getattr(self.view, "sparse", False)
        return [*declared, FIELDS] if is_sparse else declared


def only_requested(request: Request, view: APIView, body: Any) -> Any:
    """Return a response body with the requested fields only."""
    parameter = request.query_params.get(PARAMETER)
    if parameter is None or not isinstance(body, Mapping):
        return body
    wanted = [name.strip() for name in parameter.split(",") if name.strip()]
    rows = body.get("results")
    _require_known(wanted, body if rows is None else _known(view) or next(iter(rows), {}))
    if rows is None:
        return _part(body, wanted)
    return {**body, "results": [_part(row, wanted) for row in rows]}


def _part(body: Mapping[str, Any], wanted: list[str]) -> dict[str, Any]:
    return {name: body[name] for name in wanted if name in body}


def _require_known(wanted: list[str], known: Collection[str]) -> None:
    """Reject unknown fields; without rows and without a serializer, no field is known."""
    if known and (unknown := [name for name in wanted if name not in known]):
        message = f"Unknown here: {', '.join(unknown)}. Known: {', '.join(known)}."
        raise ValidationError({PARAMETER: [ErrorDetail(message, "unknown_field")]})


def _known(view: APIView) -> list[str]:
    if not isinstance(view, GenericAPIView):
        return []
    serializer: Any = view.get_serializer()
    return list(serializer.get_fields())
