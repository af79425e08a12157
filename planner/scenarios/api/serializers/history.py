"""The API bodies of changes and differences."""

from typing import Any

from rest_framework import serializers

from planner.api.bodies import Body
from planner.scenarios.models import Change
from planning.differences import field_changes, line_changes
from planning.states import CONF, QUEUES, RELEASE, Edit


class ChangeSerializer(serializers.ModelSerializer[Change]):
    """One change of an edit; for a whole queue its object."""

    user = serializers.SerializerMethodField()
    path = serializers.CharField()
    before = serializers.SerializerMethodField()
    after = serializers.SerializerMethodField()

    class Meta:
        model = Change
        fields = [
            "id", "revision", "way", "created", "user", "path", "kind", "key", "field", "before", "after",
        ]  # fmt: skip

    def get_user(self, change: Change) -> str | None:
        """Return the account that made it, which may be deleted; null for the installation itself."""
        return change.actor or None

    def get_before(self, change: Change) -> Any:
        """Return the value before, null if absent."""
        return shown(change.kind, change.field, change.before)

    def get_after(self, change: Change) -> Any:
        """Return the value after, null if removed."""
        return shown(change.kind, change.field, change.after)


class WorkspaceChangeSerializer(ChangeSerializer):
    """A change with its scenario, which may have been removed."""

    scenario_name = serializers.CharField(source="scenario.name")
    scenario_removed = serializers.DateTimeField(source="scenario.removed", allow_null=True)

    class Meta(ChangeSerializer.Meta):
        fields = [*ChangeSerializer.Meta.fields, "scenario", "scenario_name", "scenario_removed"]


class FieldChangeSerializer(serializers.Serializer[Any]):
    """A field inside an object, before and after."""

    path = serializers.CharField()
    before = serializers.JSONField()
    after = serializers.JSONField()


class DifferenceSerializer(serializers.Serializer[Any]):
    """One difference between a scenario and its base; null means absent."""

    kind = serializers.CharField()
    key = serializers.CharField()
    field = serializers.CharField(help_text="Empty: the whole object.")
    before = serializers.JSONField()
    after = serializers.JSONField()
    fields_changed = FieldChangeSerializer(many=True, help_text="For a whole object that still exists.")
    lines = serializers.ListField(child=serializers.CharField(), help_text="Of the configuration.")


class DifferencesSerializer(serializers.Serializer[Any]):
    """All differences between a scenario and its base."""

    base = serializers.CharField()
    revision = serializers.IntegerField()
    differences = DifferenceSerializer(many=True)


class DifferenceNamed(Body):
    """The name of a difference."""

    kind = serializers.CharField(max_length=40)
    key = serializers.CharField(max_length=510, allow_blank=True, default="")
    field = serializers.CharField(max_length=253, allow_blank=True, default="")


class BranchCreate(Body):
    """A branch to create."""

    name = serializers.CharField(max_length=253)
    revision = serializers.IntegerField(
        min_value=1, required=False, help_text="Revision of the parent; default: the current one."
    )


def shown(kind: str, field: str, value: Any) -> Any:
    """Return a value for display: for a whole queue its object."""
    return value["object"] if kind == QUEUES and not field and value is not None else value


def difference_body(edit: Edit) -> dict[str, Any]:
    """Return one difference with its field changes."""
    before, after = (shown(edit.kind, edit.field, value) for value in (edit.before, edit.after))
    whole = not edit.field and edit.kind not in (CONF, RELEASE) and before is not None and after is not None
    return {
        "kind": edit.kind,
        "key": edit.key,
        "field": edit.field,
        "before": before,
        "after": after,
        "fields_changed": [
            {"path": path, "before": was, "after": now}
            for path, was, now in (field_changes(before, after) if whole else ())
        ],
        "lines": line_changes(before, after) if edit.kind == CONF else [],
    }
