"""The API bodies of the verdict on a run."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from planner.api.serializers import AmountSerializer, AmountsField, amount_body
from planning.impossible_jobs import NEVER


class OwnAmount(serializers.Field[float, Any, dict[str, Any], Any]):
    """An amount whose row names the resource."""

    def get_attribute(self, instance: Any) -> Any:
        """Return the amount with its resource; None stays None."""
        value = getattr(instance, str(self.source))
        return None if value is None else (instance.resource, value)

    def to_representation(self, value: Any) -> dict[str, Any]:
        """Return the amount with its unit."""
        return amount_body(*value)


OwnAmountField = extend_schema_field(AmountSerializer)(OwnAmount)


class LineSerializer(serializers.Serializer[Any]):
    """One sentence of the verdict, and its figure."""

    id = serializers.CharField(help_text="What it is about: starved, evictions, loops, never, usage cpu …")
    level = serializers.ChoiceField(choices=["bad", "warn", "info", "good"])
    sentence = serializers.CharField()
    count = serializers.FloatField()
    before = serializers.FloatField(
        allow_null=True, help_text="The same figure of the baseline; null without one."
    )
    change = serializers.FloatField(allow_null=True)
    unit = serializers.CharField()


class StarvedSerializer(serializers.Serializer[Any]):
    """A queue with waiting jobs that holds less than it deserves and requests."""

    queue = serializers.CharField()
    resource = serializers.CharField(help_text="The most contested resource that it deserves and requests.")
    part = serializers.FloatField(help_text="What it lacks of its deserved amount, as a fraction of 1.")
    deserved = OwnAmountField()
    allocated = OwnAmountField()
    jobs = serializers.IntegerField(help_text="Its waiting jobs.")


class MovedSerializer(serializers.Serializer[Any]):
    """A queue that evictions left below its deserved amount, or that the run lifted above it."""

    queue = serializers.CharField()
    resource = serializers.CharField()
    deserved = OwnAmountField()
    before = OwnAmountField()
    after = OwnAmountField()
    evicted = serializers.IntegerField(help_text="Pods evicted from it, or for it if it gained.")


class EvictionsSerializer(serializers.Serializer[Any]):
    """How many pods were evicted, and how many would have been enough."""

    pods = serializers.IntegerField()
    evictions = serializers.IntegerField(help_text="A pod evicted in several cycles counts each time.")
    needed = serializers.IntegerField()
    excess = serializers.IntegerField()
    exact = serializers.BooleanField(help_text="False: `needed` is a lower bound, `excess` an upper one.")
    freed = AmountsField(help_text="What the evicted pods held.")
    used = AmountsField(help_text="The requests of the pods that they were evicted for.")


class BrokenGangSerializer(serializers.Serializer[Any]):
    """A job of which evictions left some pods, but fewer than its minMember."""

    job = serializers.CharField()
    queue = serializers.CharField()
    kept = serializers.IntegerField(help_text="Pods that it still has.")
    pods = serializers.IntegerField()
    minimum = serializers.IntegerField(help_text="Its minMember.")


class StuckJobSerializer(serializers.Serializer[Any]):
    """A job that can never run in this cluster."""

    job = serializers.CharField()
    queue = serializers.CharField()
    why = serializers.ChoiceField(choices=list(NEVER))


class ResourceUseSerializer(serializers.Serializer[Any]):
    """One resource on the nodes of a pool, once evicted pods are gone and pipelined ones run."""

    resource = serializers.CharField()
    total = OwnAmountField()
    used = OwnAmountField()
    free = OwnAmountField()
    largest = OwnAmountField(help_text="The most that one node has free.")
    stranded = OwnAmountField(
        allow_null=True,
        help_text="Free on nodes that no waiting pod which requests the resource fits on, by requests alone; "
        "null when no pod waits for it.",
    )
    unusable = OwnAmountField(help_text="Free on nodes that are cordoned, not ready or under pressure.")
    part = serializers.FloatField(help_text="The used fraction of 1.")


class PoolUseSerializer(serializers.Serializer[Any]):
    """The nodes of one pool."""

    pool = serializers.CharField(help_text="Empty for all nodes together.")
    nodes = serializers.IntegerField()
    resources = ResourceUseSerializer(many=True)


class RunVerdictSerializer(serializers.Serializer[Any]):
    """The verdict on a run; lists name at most 50, `counts` has how many there are."""

    baseline = serializers.UUIDField(
        source="baseline.pk",
        default=None,
        allow_null=True,
        help_text="The run of the unchanged snapshot; null without one.",
    )
    lines = LineSerializer(many=True)
    counts = serializers.DictField(child=serializers.IntegerField(), source="verdict.counts")
    starved = StarvedSerializer(many=True, source="verdict.starved")
    pushed_below = MovedSerializer(many=True, source="verdict.pushed_below")
    lifted_above = MovedSerializer(many=True, source="verdict.lifted_above")
    broken = BrokenGangSerializer(many=True, source="verdict.broken")
    evictions = EvictionsSerializer(
        source="verdict.evictions", allow_null=True, help_text="Null if the run kept no explanations."
    )
    loops = serializers.IntegerField(source="verdict.loops")
    never = StuckJobSerializer(many=True, source="verdict.never")
    jobs = serializers.IntegerField(source="verdict.jobs")
    waiting_jobs = serializers.IntegerField(source="verdict.waiting_jobs")
    waiting_pods = serializers.IntegerField(source="verdict.waiting_pods")
    pools = PoolUseSerializer(many=True, source="verdict.pools", help_text="All nodes first.")
    notes = serializers.ListField(
        child=serializers.CharField(), help_text="What is not modelled, and what is assumed."
    )
