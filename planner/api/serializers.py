"""Shared API bodies: our own fields in snake_case, Kubernetes objects as in their CRD."""

import logging
from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from planner.api.bodies import Body
from planner.clusters.models import Import
from planner.scenarios.models import Scenario
from planning.rows import Amounts

logger = logging.getLogger(__name__)

UNREADABLE = (TypeError, ValueError, KeyError, AttributeError)
_UNITS = {"cpu": "millicores", "memory": "bytes", "pods": "pods"}


def amount_body(resource: str, value: float | None) -> dict[str, Any]:
    """Return one amount with its unit; None is an unlimited amount.

    >>> amount_body("cpu", 8000.0)
    {'value': 8000.0, 'unit': 'millicores', 'unlimited': False}
    >>> amount_body("nvidia.com/gpu", None)
    {'value': None, 'unit': 'milliunits', 'unlimited': True}
    """
    return {"value": value, "unit": amount_unit(resource), "unlimited": value is None}


def amount_unit(resource: str) -> str:
    """Return the scheduler's unit of amounts of a resource."""
    return _UNITS.get(resource, "milliunits")


class AmountSerializer(serializers.Serializer[Any]):
    """One amount in the scheduler's unit."""

    value = serializers.FloatField(allow_null=True)
    unit = serializers.ChoiceField(choices=[*_UNITS.values(), "milliunits"])
    unlimited = serializers.BooleanField()


@extend_schema_field(serializers.DictField(child=AmountSerializer()))
class AmountsField(serializers.Field[Amounts, Any, dict[str, Any], Any]):
    """Amounts by resource."""

    def to_representation(self, value: Amounts) -> dict[str, Any]:
        """Return each amount with its unit, by resource name; databases do not keep the order of keys."""
        return {resource: amount_body(resource, amount) for resource, amount in sorted(value.items())}


class ReadableRow(serializers.BaseSerializer[Any]):
    """A row whose unreadable fields are null."""

    def to_representation(self, instance: Any) -> Any:
        """Return the row."""
        try:
            return super().to_representation(instance)
        except UNREADABLE:
            logger.warning("A field of %r cannot be read.", instance)
            fields: list[serializers.Field[Any, Any, Any, Any]] = self._readable_fields  # type: ignore[attr-defined]
            return {field.field_name: _read(field, instance) for field in fields}


def _read(field: serializers.Field[Any, Any, Any, Any], instance: Any) -> Any:
    try:
        value = field.get_attribute(instance)
        return None if value is None else field.to_representation(value)
    except UNREADABLE:
        return None


class ProblemSerializer(serializers.Serializer[Any]):
    """A finding about a plan or a text; unknown values are null."""

    rule = serializers.CharField()
    severity = serializers.ChoiceField(choices=["error", "warning", "remark"])
    message = serializers.CharField(allow_null=True)
    path = serializers.CharField(allow_null=True)
    queue = serializers.CharField(allow_null=True)
    field = serializers.CharField(allow_null=True)
    actual = serializers.JSONField()
    limit = serializers.JSONField()
    fix = serializers.CharField(allow_null=True)
    document = serializers.CharField(allow_null=True)
    line = serializers.IntegerField(allow_null=True)


class Edit(serializers.Serializer[Any]):
    """The result of an edit of a scenario, beside the changed object; the whole body of a removal."""

    problems = ProblemSerializer(many=True, help_text="Problems that the edit caused.")
    notes = serializers.ListField(
        child=serializers.CharField(),
        help_text="What runs no longer model because of the edit; these remarks are in `problems`, too.",
    )


class ErrorSerializer(serializers.Serializer[Any]):
    """The body of every error."""

    code = serializers.CharField()
    message = serializers.CharField()
    problems = ProblemSerializer(many=True)


class VersionSerializer(serializers.Serializer[Any]):
    """An object at a revision."""

    revision = serializers.IntegerField()
    body = serializers.JSONField()


class StaleSerializer(ErrorSerializer):
    """A stale edit: the version it is based on, and the current one."""

    seen = VersionSerializer()
    current = VersionSerializer()


class ImportSerializer(serializers.ModelSerializer[Import]):
    """An import that a worker processes because the cluster is large."""

    owner = serializers.CharField(source="owner.username", allow_null=True, default=None)
    dry_run = serializers.BooleanField(
        source="is_dry", help_text="Only reports what it finds; saves nothing."
    )
    counts = serializers.DictField(
        child=serializers.IntegerField(), help_text="Empty until the import has been read."
    )
    problems = ProblemSerializer(many=True)

    class Meta:
        model = Import
        fields = [
            "id", "state", "name", "provenance", "dry_run", "owner", "progress", "doing", "error", "counts",
            "problems", "snapshot", "run", "attempt", "cancel_requested", "created", "started", "finished",
        ]  # fmt: skip


class ScenarioSerializer(serializers.ModelSerializer[Scenario]):
    """An editable scenario on a snapshot."""

    owner = serializers.CharField(source="owner.username", allow_null=True, default=None)
    tags = serializers.ListField(child=serializers.CharField())

    class Meta:
        model = Scenario
        fields = [
            "id",
            "name",
            "snapshot",
            "parent",
            "parent_revision",
            "revision",
            "owner",
            "note",
            "tags",
            "archived",
            "created",
            "updated",
        ]


class LabelsSerializer(Body):
    """The labels of a scenario or a run; missing fields stay unchanged."""

    name = serializers.CharField(required=False, allow_blank=True)
    note = serializers.CharField(required=False, allow_blank=True, help_text="Plain text.")
    tags = serializers.ListField(child=serializers.CharField(), required=False)
    archived = serializers.BooleanField(required=False, help_text="Hide it from lists.")
