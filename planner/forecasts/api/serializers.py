"""The API bodies of forecasts; times in seconds, amounts in the scheduler's units."""

from typing import Any

from rest_framework import serializers

from planner.api.bodies import Body
from planner.forecasts.models import Forecast
from planning.forecasts.options import DEFAULTS, EVICTED


class ForecastOptions(Body):
    """The assumptions of a forecast."""

    horizon_seconds = serializers.FloatField(default=DEFAULTS["horizon_seconds"])
    period_seconds = serializers.FloatField(
        default=DEFAULTS["period_seconds"], help_text="Time between two sessions."
    )
    start_delay_seconds = serializers.FloatField(
        default=0.0, help_text="Time from the bind until a pod runs."
    )
    termination_seconds = serializers.FloatField(
        allow_null=True,
        default=None,
        help_text="How long an evicted pod terminates; null: its own grace period.",
    )
    evicted = serializers.ChoiceField(
        choices=list(EVICTED), default="restart", help_text="What happens to evicted pods."
    )
    checkpoint_seconds = serializers.FloatField(
        default=0.0, help_text="Run time between checkpoints; 0: none."
    )
    restore_seconds = serializers.FloatField(default=0.0, help_text="Time to read a checkpoint.")
    default_run_seconds = serializers.FloatField(
        default=3600.0, help_text="Run time of jobs with an unknown run time."
    )
    window_begin_seconds = serializers.FloatField(default=0.0, help_text="Where in the trace to start.")
    queues = serializers.DictField(
        child=serializers.CharField(), default=dict, help_text="Queue of the scenario by queue of the trace."
    )
    rest = serializers.CharField(
        default="",
        allow_blank=True,
        help_text="Queue for queues of the trace that the scenario does not have.",
    )
    rate = serializers.FloatField(default=1.0, help_text="Jobs for each job of the trace.")
    size = serializers.FloatField(default=1.0, help_text="Pods for each pod of a job.")
    run_time = serializers.FloatField(default=1.0, help_text="Factor of run times.")
    changes = serializers.ListField(
        child=serializers.DictField(), default=list, help_text="Timed changes, see docs/forecasts.md."
    )
    seeds = serializers.IntegerField(
        default=0, help_text="Number of drawn workloads like the trace, for intervals: 0, or 2 to 30."
    )
    targets = serializers.DictField(
        child=serializers.FloatField(),
        required=False,
        help_text="Wait targets in seconds by queue; default: the scenario's.",
    )


class ForecastCreate(ForecastOptions):
    """A forecast to create."""

    trace = serializers.UUIDField()


class SummarySerializer(serializers.Serializer[Any]):
    """The summary of a forecast."""

    sessions = serializers.IntegerField()
    end_seconds = serializers.FloatField()
    jobs = serializers.IntegerField()
    started = serializers.IntegerField()
    finished = serializers.IntegerField()
    evictions = serializers.IntegerField()
    lost_seconds = serializers.FloatField()
    queues = serializers.ListField(child=serializers.CharField())
    resources = serializers.ListField(child=serializers.CharField())
    result_sha256 = serializers.CharField(help_text="Of the core's whole result.")


class EstimateSerializer(serializers.Serializer[Any]):
    """The expected duration of a forecast, estimated from its input at the start."""

    seconds = serializers.FloatField(help_text="Processor seconds of one core.")
    sessions = serializers.IntegerField(
        help_text="Expected number of sessions, including those of drawn workloads."
    )
    at_least = serializers.BooleanField(
        help_text="Whether it may take much longer: the number of evictions cannot be estimated."
    )


class ForecastSerializer(serializers.ModelSerializer[Forecast]):
    """One replay of a scenario's revision under a workload."""

    owner = serializers.CharField(source="owner.username", allow_null=True, default=None)
    options = serializers.DictField()
    notes = serializers.ListField(child=serializers.CharField())
    estimate = serializers.SerializerMethodField()
    summary = serializers.SerializerMethodField()

    class Meta:
        model = Forecast
        fields = [
            "id", "state", "scenario", "scenario_revision", "trace", "trace_name", "owner", "options",
            "progress", "doing", "error", "estimate", "simulated_seconds", "jobs_done", "sessions_per_second",
            "resumed_at", "attempt", "cancel_requested", "engine_version", "created", "started", "finished",
            "notes", "summary", "timings",
        ]  # fmt: skip

    def get_estimate(self, forecast: Forecast) -> "EstimateBody":
        """Return the expected duration; null before the start."""
        return EstimateSerializer(forecast.estimate).data if forecast.estimate else None

    def get_summary(self, forecast: Forecast) -> "SummaryBody":
        """Return the summary; null until it succeeded."""
        return SummarySerializer(forecast.summary).data if forecast.summary else None


SummaryBody = dict[str, Any] | None
EstimateBody = dict[str, Any] | None


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
        choices=["target", "starvation", "loop", "lost", "unstarted", "utilisation"]
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
    seeds = QueueOverSeedsSerializer(many=True)


class JobRowSerializer(serializers.Serializer[Any]):
    """The life of one job."""

    job = serializers.CharField()
    queue = serializers.CharField()
    pods = serializers.IntegerField()
    submitted = serializers.FloatField(allow_null=True)
    enqueued = serializers.FloatField(allow_null=True)
    started = serializers.FloatField(allow_null=True)
    finished = serializers.FloatField(allow_null=True)
    ended = serializers.FloatField(
        allow_null=True, help_text="When it failed, was aborted or terminated: it neither waits nor runs."
    )
    wait_seconds = serializers.FloatField(allow_null=True)
    evictions = serializers.IntegerField()
    lost_seconds = serializers.FloatField()


class EvictionRowSerializer(serializers.Serializer[Any]):
    """One eviction."""

    t = serializers.FloatField()
    pod = serializers.CharField()
    job = serializers.CharField(allow_blank=True)
    queue = serializers.CharField(allow_blank=True)
    for_job = serializers.CharField(allow_blank=True)
    for_queue = serializers.CharField(allow_blank=True)
    ran_seconds = serializers.FloatField()


class CurveSerializer(serializers.Serializer[Any]):
    """A figure over time: its value from each time on."""

    queue = serializers.CharField(allow_blank=True, help_text="Empty: of all queues.")
    figure = serializers.CharField(
        help_text="`deserved`, `allocated`, `request`, `waiting`; without a queue also `capacity`, `free`,"
        " `fragmented` and `fragmented_part`."
    )
    t = serializers.ListField(child=serializers.FloatField())
    values = serializers.ListField(child=serializers.FloatField())


class SeriesSerializer(serializers.Serializer[Any]):
    """Figures over a window; long curves keep the first, last, lowest and highest value of each interval."""

    resource = serializers.CharField()
    begin = serializers.FloatField()
    end = serializers.FloatField()
    curves = CurveSerializer(many=True)


class TargetsSerializer(Body):
    """Wait targets: 95 % of a queue's jobs wait at most so many seconds."""

    targets = serializers.DictField(child=serializers.FloatField(min_value=0.001, max_value=1e9))


class TargetsPatch(Body):
    """Wait targets of some queues in seconds, null for none."""

    targets = serializers.DictField(
        child=serializers.FloatField(min_value=0.001, max_value=1e9, allow_null=True)
    )


class MomentOpen(Body):
    """A moment of a forecast to create a scenario of."""

    at = serializers.FloatField(min_value=0, help_text="Simulated seconds.")
    name = serializers.CharField(max_length=253, required=False, default="")
