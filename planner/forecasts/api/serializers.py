"""The API bodies of forecasts; times in seconds, amounts in the scheduler's units."""

from typing import Any

from rest_framework import serializers

from planner.api.bodies import Body
from planner.forecasts.models import Forecast
from planning.constraint_choices import LIKE_QUEUE, NODE_CONSTRAINTS
from planning.forecasts.options import DEFAULTS, EVICTED, LEAVE_OUT, RUNNING_JOBS


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
    running_jobs = serializers.ChoiceField(
        choices=list(RUNNING_JOBS),
        default=LEAVE_OUT,
        help_text="Jobs of the trace that run when its window begins: left out, or placed first, for what "
        "remains of their run time.",
    )
    queues = serializers.DictField(
        child=serializers.CharField(), default=dict, help_text="Queue of the scenario by queue of the trace."
    )
    rest = serializers.CharField(
        default="",
        allow_blank=True,
        help_text="Queue for queues of the trace that the scenario does not have.",
    )
    rate = serializers.FloatField(default=1.0, help_text="Jobs for each job of the trace.")
    rates = serializers.DictField(
        child=serializers.FloatField(), default=dict, help_text="Further factors by queue of the trace."
    )
    size = serializers.FloatField(default=1.0, help_text="Pods for each pod of a job.")
    run_time = serializers.FloatField(default=1.0, help_text="Factor of run times.")
    node_constraints = serializers.ChoiceField(
        choices=list(NODE_CONSTRAINTS),
        default=LIKE_QUEUE,
        help_text="Tolerations and node selectors of the trace's pods: like pods of their queue, or none.",
    )
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
        help_text="Whether it may take much longer: each session takes longer the more jobs wait in it and "
        "the more pods it evicts, which cannot be estimated."
    )
    seconds_left = serializers.FloatField(
        allow_null=True,
        default=None,
        help_text="The time left at the speed so far; null before the first report, and at the end.",
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
        if not forecast.estimate:
            return None
        left = None if forecast.is_over else forecast.estimate.get("seconds_left")
        return EstimateSerializer({**forecast.estimate, "seconds_left": left}).data

    def get_summary(self, forecast: Forecast) -> "SummaryBody":
        """Return the summary; null until it succeeded."""
        return SummarySerializer(forecast.summary).data if forecast.summary else None


SummaryBody = dict[str, Any] | None
EstimateBody = dict[str, Any] | None


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
    unit = serializers.CharField(help_text="Of amounts: all values but numbers of jobs and parts of 1.")
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
