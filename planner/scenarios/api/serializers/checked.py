"""The API bodies of checks and exports."""

from typing import Any

from rest_framework import serializers

from planner.api.bodies import Body
from planner.api.serializers import ProblemSerializer
from planner.scenarios.api.serializers.configuration import ConfFindingSerializer
from planning.releases import DEFAULT, release_problems


class ProblemsSerializer(serializers.Serializer[Any]):
    """Findings, errors first: refused by Volcano; accepted, but harmful; good to know."""

    problems = ProblemSerializer(many=True)


class ConfTextSerializer(Body):
    """A scheduler configuration as text; empty means Volcano's default."""

    text = serializers.CharField(allow_blank=True, trim_whitespace=False)
    release = serializers.CharField(
        default=DEFAULT, max_length=40, help_text="The release of Volcano that reads it."
    )

    def validate_release(self, name: str) -> str:
        """Reject a name that is not a version."""
        for problem in release_problems(name):
            raise serializers.ValidationError(f"{problem.message} {problem.fix}", "release.unreadable")
        return name


class PluginCallSerializer(serializers.Serializer[Any]):
    """A plugin that implements an extension point; tiers count from 1."""

    tier = serializers.IntegerField()
    plugin = serializers.CharField()
    on = serializers.BooleanField(help_text="False if its switch is off and it does not run.")


class QuestionSerializer(serializers.Serializer[Any]):
    """One extension point: the plugins that run, their order, how answers combine, and the deciding tier."""

    point = serializers.CharField()
    switches = serializers.ListField(child=serializers.CharField())
    plugins = PluginCallSerializer(many=True)
    rule = serializers.CharField()
    without = serializers.CharField(help_text="What applies if no plugin answers.")
    decides = serializers.IntegerField(allow_null=True, help_text="Null if every tier runs.")


class ConfLintSerializer(serializers.Serializer[Any]):
    """Findings about a configuration, and the plugins that run at each extension point."""

    problems = ConfFindingSerializer(many=True)
    questions = QuestionSerializer(many=True, help_text="Empty when Volcano would reject it.")


class ExportStepSerializer(serializers.Serializer[Any]):
    """One write to the cluster; `halfway` if a later write sets the final value."""

    verb = serializers.ChoiceField(choices=["create", "update"])
    queue = serializers.CharField()
    halfway = serializers.BooleanField()
    removes = serializers.ListField(
        child=serializers.CharField(),
        help_text="Fields that it removes; `kubectl apply` only removes fields that an earlier apply set.",
    )


class ExportSerializer(serializers.Serializer[Any]):
    """The steps that turn a cluster into the scenario."""

    steps = ExportStepSerializer(many=True)
    deletions = serializers.ListField(child=serializers.CharField(), help_text="Children first.")
    states = serializers.DictField(child=serializers.CharField(), help_text="Queues to open or close.")
    conf_changed = serializers.BooleanField()
    impossible = ProblemSerializer(many=True, help_text="Changes that Volcano rejects in any order.")
    changed = serializers.CharField(help_text="YAML to apply from top to bottom.")
    whole = serializers.CharField(help_text="The same, plus everything unchanged.")
    script = serializers.CharField(
        help_text="Deletes, opens and closes queues; run it after applying the YAML."
    )
