"""Which bodies have the calls about the scheduler's configuration and release?"""

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
    """One operation of a JSON patch (RFC 6902); `from` belongs to a move, `value` to add and replace."""

    op = serializers.ChoiceField(choices=["add", "remove", "replace", "move"])
    path = serializers.CharField(help_text="JSON pointer, such as /tiers/0/plugins/-")
    value = serializers.JSONField(required=False)

    def get_fields(self) -> dict[str, Any]:
        """Return the fields, among them one whose name is a word of Python."""
        return {**super().get_fields(), "from": serializers.CharField(required=False)}


class ConfSerializer(Body):
    """The scheduler configuration as text; empty means Volcano's default."""

    text = serializers.CharField(allow_blank=True, trim_whitespace=False)
    problems = ConfFindingSerializer(many=True, read_only=True)


class ConfEdited(Edit, ConfSerializer):
    """The scheduler configuration after an edit."""

    problems = ConfFindingSerializer(
        many=True, help_text="All findings about the text, then what else the scenario has since the edit."
    )


class ReleaseSerializer(Body):
    """The release of Volcano that decides in a scenario."""

    release = serializers.CharField(
        allow_blank=True, max_length=40, help_text="As chosen, such as v1.14.4; empty: the imported one."
    )
    imported = serializers.CharField(
        read_only=True, help_text="The release that the imported scheduler runs; empty when unknown."
    )
    rules_of = serializers.CharField(read_only=True, help_text="The known release whose rules decide.")


class ReleaseEdited(Edit, ReleaseSerializer):
    """The release of a scenario after an edit."""
