"""The API bodies of compared forecasts; waits in seconds."""

from typing import Any

from rest_framework import serializers

from planner.forecasts.api.verdict_serializers import IntervalSerializer


class JobPairSerializer(serializers.Serializer[Any]):
    """One job in two forecasts; waits in seconds, up to the end of the shorter forecast."""

    job = serializers.CharField()
    queue = serializers.CharField()
    before = serializers.FloatField()
    after = serializers.FloatField()
    longer = serializers.FloatField()
    started_before = serializers.BooleanField()
    started_after = serializers.BooleanField()


class PairedQueueSerializer(serializers.Serializer[Any]):
    """One queue in two forecasts: each pair is before and after, in seconds."""

    queue = serializers.CharField()
    jobs = serializers.IntegerField()
    longer = serializers.IntegerField()
    shorter = serializers.IntegerField()
    p50 = serializers.ListField(child=serializers.FloatField())
    p95 = serializers.ListField(child=serializers.FloatField())
    mean_change = serializers.FloatField()
    hours = serializers.FloatField(help_text="Sum of the differences, in hours.")


class PairedFigureSerializer(serializers.Serializer[Any]):
    """A figure in both forecasts, and the difference of the second from the first, paired by workload."""

    before = IntervalSerializer()
    after = IntervalSerializer()
    change = IntervalSerializer()


class PairedFiguresSerializer(serializers.Serializer[Any]):
    """The waits of a queue's jobs in both forecasts under drawn workloads."""

    queue = serializers.CharField()
    mean = PairedFigureSerializer()
    p50 = PairedFigureSerializer()
    p95 = PairedFigureSerializer()


class PaidSerializer(serializers.Serializer[Any]):
    """The cost of the nodes in both forecasts."""

    currency = serializers.CharField()
    before = serializers.FloatField()
    after = serializers.FloatField()
    change = serializers.FloatField(help_text="after - before")


class FairnessPairSerializer(serializers.Serializer[Any]):
    """How evenly the queues are served with one resource: each pair is before and after."""

    resource = serializers.CharField()
    jain_index = serializers.ListField(child=serializers.FloatField(allow_null=True))
    lacked = serializers.ListField(
        child=serializers.FloatField(), help_text="What all queues lack together, on average, as amounts."
    )


class ForecastComparisonSerializer(serializers.Serializer[Any]):
    """Two forecasts, compared job by job."""

    sentence = serializers.CharField()
    hours = serializers.FloatField(help_text="Additional wait of all jobs together, in hours.")
    queues = PairedQueueSerializer(many=True)
    pairs = JobPairSerializer(many=True)
    only_before = serializers.ListField(child=serializers.CharField())
    only_after = serializers.ListField(child=serializers.CharField())
    evictions = serializers.ListField(
        child=serializers.IntegerField(), help_text="Until the end of the shorter forecast."
    )
    lost = serializers.ListField(
        child=serializers.FloatField(), help_text="Run time that they lose, in seconds."
    )
    fairness = FairnessPairSerializer(many=True, help_text="Empty for forecasts of unequal length.")
    cost = PaidSerializer(
        allow_null=True,
        help_text="Null without prices, and for forecasts of unequal length.",
    )
    seeds = PairedFiguresSerializer(
        many=True, help_text="Empty unless both forecasts have the same drawn workloads."
    )
