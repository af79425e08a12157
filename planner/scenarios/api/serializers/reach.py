"""Which body has the answer to what makes a figure reach an amount?"""

from typing import Any

from rest_framework import serializers

from planning.reach.questions import FIGURES


class ReachChangeSerializer(serializers.Serializer[Any]):
    """The smallest change of one kind on its grid, or that there is none."""

    kind = serializers.ChoiceField(choices=["weight", "deserved", "guarantee", "capability", "nodes"])
    name = serializers.CharField(help_text="Kind, and the queue or node, such as `weight:research`.")
    queue = serializers.CharField(help_text="Whose field moves; empty for nodes.")
    like = serializers.CharField(help_text="The node that added ones are copies of; empty for a queue.")
    pool = serializers.CharField(help_text="The pool of that node.")
    before = serializers.CharField(
        help_text="What the field is now, how many nodes the pool has; empty: not set."
    )
    status = serializers.ChoiceField(
        choices=["found", "none", "undecided"],
        help_text="`none`: no point of the grid reaches the amount. `undecided`: not tried so far.",
    )
    after = serializers.CharField(
        allow_null=True, help_text="What the field is then; for nodes how many are added."
    )
    value = serializers.FloatField(
        allow_null=True, help_text="The figure after the change, without one after the last point tried."
    )
    patch = serializers.DictField(help_text="The merge patch of the queue that makes the change.")
    count = serializers.IntegerField(help_text="How many nodes are added, 0 for a queue.")
    smaller = serializers.CharField(
        allow_null=True,
        help_text="The largest smaller point, which was tried and is not offered; null: none.",
    )
    refused = serializers.CharField(
        help_text="Why a point that reaches the amount is not offered: the webhook refuses it. Empty: none."
    )
    tried = serializers.IntegerField(help_text="How many points were tried, from the smallest on.")
    points = serializers.IntegerField(help_text="How many points the grid has.")
    largest = serializers.CharField(help_text="The last point of the grid.")


class ReachSerializer(serializers.Serializer[Any]):
    """What a figure is, and the smallest change of each kind with which it reaches an amount."""

    figure = serializers.ChoiceField(choices=list(FIGURES))
    queue = serializers.CharField()
    resource = serializers.CharField()
    job = serializers.CharField()
    at_least = serializers.FloatField(allow_null=True)
    at_most = serializers.FloatField(allow_null=True)
    unit = serializers.CharField(help_text="Of `at_least`, `at_most`, `now` and `value`.")
    now = serializers.FloatField(allow_null=True, help_text="The figure as it is; null: without limit.")
    met = serializers.BooleanField(help_text="Nothing needs to change.")
    complete = serializers.BooleanField(help_text="No kind is undecided.")
    next = serializers.CharField(
        allow_null=True,
        help_text="The parameter `after` with which the search goes on; null: it is complete.",
    )
    changes = ReachChangeSerializer(many=True)
