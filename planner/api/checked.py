"""What do scripts read of checks and exports?"""

from typing import Any

from rest_framework import serializers

from planner.api.serializers import ConfFindingSerializer, ProblemSerializer


class ProblemsSerializer(serializers.Serializer[Any]):
    """What there is to say, errors first: refused by Volcano; accepted, but harmful; good to know."""

    problems = ProblemSerializer(many=True)


class ConfTextSerializer(serializers.Serializer[Any]):
    """A scheduler configuration as a text; empty stands for Volcano's default."""

    text = serializers.CharField(allow_blank=True, trim_whitespace=False)


class AskedSerializer(serializers.Serializer[Any]):
    """A plugin that has an answer to a question; its tier is counted from 1."""

    tier = serializers.IntegerField()
    plugin = serializers.CharField()
    on = serializers.BooleanField(help_text="False: its switch is off, it is not asked.")


class QuestionSerializer(serializers.Serializer[Any]):
    """One extension point: who is asked, in which order, how the answers become one, which tier decides."""

    point = serializers.CharField()
    switches = serializers.ListField(child=serializers.CharField())
    asked = AskedSerializer(many=True)
    rule = serializers.CharField()
    without = serializers.CharField(help_text="What holds when nobody answers.")
    decides = serializers.IntegerField(allow_null=True, help_text="null: every tier is asked.")


class ConfLintSerializer(serializers.Serializer[Any]):
    """What there is to say about a configuration, and whom a session asks under it."""

    problems = ConfFindingSerializer(many=True)
    questions = QuestionSerializer(many=True, help_text="Empty when Volcano would reject it.")


class ExportStepSerializer(serializers.Serializer[Any]):
    """One write; half-way when a later one brings the queue to what it shall be."""

    verb = serializers.ChoiceField(choices=["create", "update"])
    queue = serializers.CharField()
    halfway = serializers.BooleanField()


class ExportSerializer(serializers.Serializer[Any]):
    """How a cluster becomes what a scenario says."""

    steps = ExportStepSerializer(many=True)
    deletions = serializers.ListField(child=serializers.CharField(), help_text="Children first.")
    states = serializers.DictField(child=serializers.CharField(), help_text="Queues to open or close.")
    conf_changed = serializers.BooleanField()
    impossible = ProblemSerializer(many=True, help_text="What the webhook accepts in no order.")
    changed = serializers.CharField(help_text="YAML to apply from top to bottom.")
    whole = serializers.CharField(help_text="The same, and all that stays as it is.")
    script = serializers.CharField(help_text="Deletes, opens and closes queues; run it afterwards.")
