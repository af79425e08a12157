"""The API bodies of the scheduler configuration and the release."""

from typing import Any

from rest_framework import serializers

from planner.api.bodies import Body
from planner.api.serializers import Edit, ProblemSerializer


class ConfFindingSerializer(ProblemSerializer):
    """A finding about a configuration."""

    remedy = serializers.ListField(
        child=serializers.DictField(child=serializers.JSONField()),
        help_text="The JSON patch that fixes it; empty if no single edit does.",
    )


class ConfOperation(Body):
    """One operation of a JSON patch (RFC 6902); move has `from`, add and replace have `value`."""

    op = serializers.ChoiceField(choices=["add", "remove", "replace", "move"])
    path = serializers.CharField(help_text="JSON pointer, such as /tiers/0/plugins/-")
    value = serializers.JSONField(required=False)

    def get_fields(self) -> dict[str, Any]:
        """Return the fields, including `from`, which is a Python keyword."""
        return {**super().get_fields(), "from": serializers.CharField(required=False)}


class ConfSerializer(Body):
    """The scheduler configuration as text; empty means Volcano's default."""

    text = serializers.CharField(allow_blank=True, trim_whitespace=False)
    problems = ConfFindingSerializer(many=True, read_only=True)


class ConfEdited(Edit, ConfSerializer):
    """The scheduler configuration after an edit."""

    problems = ConfFindingSerializer(
        many=True,
        help_text="All findings about the text, then other problems that the edit caused in the scenario.",
    )


class ReleaseSerializer(Body):
    """The release of Volcano whose rules apply to a scenario."""

    release = serializers.CharField(
        allow_blank=True, max_length=40, help_text="As selected, such as v1.14.4; empty: the imported one."
    )
    imported = serializers.CharField(
        read_only=True, help_text="The release that the imported scheduler runs; empty when unknown."
    )
    rules_of = serializers.CharField(read_only=True, help_text="The known release whose rules apply.")


class ReleaseEdited(Edit, ReleaseSerializer):
    """The release of a scenario after an edit."""
