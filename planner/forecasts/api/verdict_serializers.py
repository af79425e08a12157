"""The API bodies of a forecast's verdict; times in seconds, amounts in the scheduler's units."""

from typing import Any

from rest_framework import serializers


class WaitRowSerializer(serializers.Serializer[Any]):
    """The waits and evictions of a queue's jobs."""

    queue = serializers.CharField()
    jobs = serializers.IntegerField()
    started = serializers.IntegerField()
    finished = serializers.IntegerField()
    wait_p50 = serializers.FloatField(allow_null=True)
    wait_p95 = serializers.FloatField(allow_null=True)
    wait_longest = serializers.FloatField(allow_null=True)
    evictions = serializers.IntegerField()
    lost_seconds = serializers.FloatField()
    most_waiting = serializers.IntegerField()
    most_waiting_at = serializers.FloatField()
    target_seconds = serializers.FloatField(allow_null=True)
    target_status = serializers.ChoiceField(
        choices=["", "met", "missed", "open", "no_jobs"],
        help_text="Empty: no target; open: jobs that had not started by the end decide.",
    )


class FindingSerializer(serializers.Serializer[Any]):
    """One sentence of the verdict, with the moment that shows it."""

    kind = serializers.ChoiceField(
        choices=[
            "target",
            "unschedulable",
            "starvation",
            "thrashing",
            "loop",
            "lost",
            "backlog",
            "unstarted",
            "utilisation",
        ]
    )
    tone = serializers.ChoiceField(choices=["harm", "safe", "neutral"])
    says = serializers.CharField()
    at = serializers.FloatField(allow_null=True)
    queue = serializers.CharField(allow_blank=True)
    figures = serializers.DictField(help_text="The numbers of the sentence.")


class EvictionFlowSerializer(serializers.Serializer[Any]):
    """Evictions of one queue's pods for another queue."""

    queue = serializers.CharField(allow_blank=True)
    for_queue = serializers.CharField(allow_blank=True)
    evictions = serializers.IntegerField()
    ran_seconds = serializers.FloatField(help_text="The total run time of the pods within the forecast.")
    first = serializers.FloatField()
    last = serializers.FloatField()


class UseRowSerializer(serializers.Serializer[Any]):
    """The use of one resource of the nodes: fractions of 1, averages over the whole forecast."""

    resource = serializers.CharField()
    allocated = serializers.FloatField(help_text="The allocated fraction of the capacity.")
    most_allocated = serializers.FloatField()
    most_allocated_at = serializers.FloatField()
    fragmented = serializers.FloatField(
        allow_null=True,
        help_text="Part of what is free that is on nodes where a pod of the forecast does not fit, on"
        " average; null: nothing is free, no pod requests it, or the forecast is of an older release.",
    )
    most_fragmented = serializers.FloatField(allow_null=True, help_text="An amount.")
    most_fragmented_at = serializers.FloatField(allow_null=True)


class CauseRowSerializer(serializers.Serializer[Any]):
    """The waits of a queue's jobs submitted during the forecast, divided by cause; in seconds of jobs."""

    queue = serializers.CharField()
    jobs = serializers.IntegerField()
    waited = serializers.FloatField(help_text="The sum of all waits; the other figures add up to it.")
    closed = serializers.FloatField(
        help_text="While its queue was closed; 0 for a forecast of an older release, where it is not known."
    )
    at_capability = serializers.FloatField(
        help_text="While it was not, and the job would have taken its queue above its capability in a"
        " resource."
    )
    above_deserved = serializers.FloatField(
        help_text="While neither, but it would have taken its queue above deserved in a resource of which"
        " the queue deserves some, or the queue deserved none of what the job requests; only while plugin"
        " proportion or an action that reclaims makes deserved amounts decide."
    )
    no_room = serializers.FloatField(
        help_text="While none of these, and the nodes had less free in total than it needs."
    )
    not_placed = serializers.FloatField(
        help_text="While enough was free in total: too full or unsuitable nodes, a limit, a gate, the order."
    )
    delays = serializers.FloatField(
        help_text="Until the first session after the submission, and from the last bind that the job needed"
        " until its pods ran."
    )
    resources = serializers.DictField(
        child=serializers.CharField(), help_text="By cause, the resource that it concerned for longest."
    )


class ServiceRowSerializer(serializers.Serializer[Any]):
    """The service of one queue; times in seconds."""

    queue = serializers.CharField()
    finished = serializers.IntegerField(
        help_text="Jobs submitted during the forecast that finished: only they have turnaround and slowdown."
    )
    turnaround_p50 = serializers.FloatField(allow_null=True)
    turnaround_p95 = serializers.FloatField(allow_null=True)
    slowdown_p50 = serializers.FloatField(
        allow_null=True, help_text="Turnaround over run time, which counts as at least 10 s."
    )
    slowdown_p95 = serializers.FloatField(allow_null=True)
    starved_seconds = serializers.FloatField(
        help_text="The longest time in which the queue lacked a resource that it deserves and requests."
    )
    starved_from = serializers.FloatField(allow_null=True)
    lacked = serializers.DictField(
        child=serializers.FloatField(),
        help_text="By resource, max(0, min(deserved, request) - allocated) on average over the forecast.",
    )


class FairnessRowSerializer(serializers.Serializer[Any]):
    """How evenly the queues were served with one resource."""

    resource = serializers.CharField()
    jain_index = serializers.FloatField(
        allow_null=True,
        help_text="Jain's index of allocated ÷ deserved, over time and the queues that request the resource:"
        " 1 is even, 1/n: one of n queues has all; null: no queue requests what it deserves.",
    )
    lacked = serializers.FloatField(help_text="What all queues lacked together, on average, as an amount.")


class ChurnSerializer(serializers.Serializer[Any]):
    """What evictions and restarts cost, relative to the time of allocated pods; null without any."""

    per_1000_pod_hours = serializers.FloatField(allow_null=True, help_text="Evictions.")
    lost_part = serializers.FloatField(
        allow_null=True,
        help_text="The lost fraction of that time; what evicted pods had run before does not count.",
    )


class IntervalSerializer(serializers.Serializer[Any]):
    """A mean over drawn workloads, in seconds, with its 95 % confidence interval by Student's t."""

    mean = serializers.FloatField()
    low = serializers.FloatField(allow_null=True, help_text="Null with a single workload.")
    high = serializers.FloatField(allow_null=True)
    seeds = serializers.IntegerField(help_text="Workloads in which the queue has jobs.")


class QueueOverSeedsSerializer(serializers.Serializer[Any]):
    """The waits of a queue's jobs under drawn workloads."""

    queue = serializers.CharField()
    mean = IntervalSerializer()
    p50 = IntervalSerializer()
    p95 = IntervalSerializer()


class ForecastVerdictSerializer(serializers.Serializer[Any]):
    """The verdict on a forecast."""

    begin = serializers.CharField(allow_blank=True, help_text="RFC 3339 time of second 0.")
    findings = FindingSerializer(many=True)
    queues = WaitRowSerializer(many=True)
    evictions = EvictionFlowSerializer(many=True)
    utilisation = serializers.DictField(
        child=serializers.FloatField(), help_text="Allocated fraction of the capacity, by resource."
    )
    resources = UseRowSerializer(many=True)
    causes = CauseRowSerializer(many=True, help_text="Empty for a forecast of an older release.")
    service = ServiceRowSerializer(many=True)
    fairness = FairnessRowSerializer(many=True)
    churn = ChurnSerializer()
    seeds = QueueOverSeedsSerializer(many=True)
