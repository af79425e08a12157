"""The API bodies of the search for changes with which a figure reaches an amount."""

from typing import Any

from rest_framework import serializers

from planning.reach.questions import FIGURES


class ReachChangeSerializer(serializers.Serializer[Any]):
    """The smallest change of one kind on its grid, or its absence."""

    kind = serializers.ChoiceField(choices=["weight", "deserved", "guarantee", "capability", "nodes"])
    name = serializers.CharField(help_text="Kind, and the queue or node, such as `weight:research`.")
    queue = serializers.CharField(help_text="The queue of the field; empty for nodes.")
    like = serializers.CharField(help_text="The node to copy; empty for a queue.")
    pool = serializers.CharField(help_text="The pool of that node.")
    before = serializers.CharField(
        help_text="The current value of the field, or the number of nodes in the pool; empty: not set."
    )
    status = serializers.ChoiceField(
        choices=["found", "none", "undecided"],
        help_text="`none`: no point of the grid reaches the amount. `undecided`: not tried so far.",
    )
    after = serializers.CharField(
        allow_null=True, help_text="The new value of the field; for nodes, how many are added."
    )
    value = serializers.FloatField(
        allow_null=True,
        help_text="The figure after the change; without a change, after the last point tried.",
    )
    patch = serializers.DictField(help_text="The merge patch of the queue that makes the change.")
    count = serializers.IntegerField(help_text="Number of nodes to add, 0 for a queue.")
    smaller = serializers.CharField(
        allow_null=True,
        help_text="The largest smaller point that was tried and does not reach the amount; null: none.",
    )
    refused = serializers.CharField(
        help_text="Why a point that reaches the amount is not offered: the webhook rejects it. Empty if none."
    )
    tried = serializers.IntegerField(help_text="Number of points tried, from the smallest on.")
    points = serializers.IntegerField(help_text="Number of points in the grid.")
    largest = serializers.CharField(help_text="The last point of the grid.")


class ReachSerializer(serializers.Serializer[Any]):
    """The current value of a figure, and the smallest change of each kind with which it reaches an amount."""

    figure = serializers.ChoiceField(choices=list(FIGURES))
    queue = serializers.CharField()
    resource = serializers.CharField()
    job = serializers.CharField()
    at_least = serializers.FloatField(allow_null=True)
    at_most = serializers.FloatField(allow_null=True)
    unit = serializers.CharField(help_text="The unit of `at_least`, `at_most`, `now` and `value`.")
    now = serializers.FloatField(allow_null=True, help_text="The current value; null: unlimited.")
    met = serializers.BooleanField(help_text="The figure already reaches the amount.")
    complete = serializers.BooleanField(help_text="Every kind is decided.")
    limit = serializers.CharField(
        help_text="Why no step reaches the amount. Empty: one does, or the reason is not known."
    )
    next = serializers.CharField(
        allow_null=True,
        help_text="The value of `after` that continues the search; null: it is complete.",
    )
    changes = ReachChangeSerializer(many=True)
