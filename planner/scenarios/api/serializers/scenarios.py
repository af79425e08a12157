"""The API bodies of scenarios."""

from rest_framework import serializers

from planner.api.bodies import Body
from planner.api.serializers import Edit, ScenarioSerializer


class ScenarioEdited(Edit, ScenarioSerializer):
    """A scenario after an edit."""

    class Meta(ScenarioSerializer.Meta):
        fields = [*ScenarioSerializer.Meta.fields, "problems", "notes"]


class ScenarioCreate(Body):
    """A scenario to create."""

    name = serializers.CharField(max_length=253)
    snapshot = serializers.UUIDField()
