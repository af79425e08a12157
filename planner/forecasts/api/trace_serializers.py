"""The API bodies of workload traces; times in seconds."""

from typing import Any

from rest_framework import serializers

from planner.api.bodies import Body
from planner.forecasts.models import WorkloadTrace
from planning.forecasts.preview import Preview
from planning.forecasts.trace_texts import FORMATS


class TraceSerializer(serializers.ModelSerializer[WorkloadTrace]):
    """A workload trace."""

    owner = serializers.CharField(source="owner.username", allow_null=True, default=None)
    queues = serializers.DictField(child=serializers.IntegerField(), help_text="Jobs by queue.")
    notes = serializers.ListField(child=serializers.CharField())

    class Meta:
        model = WorkloadTrace
        fields = [
            "id", "name", "format", "provenance", "owner", "created", "begin", "span_seconds", "jobs", "pods",
            "queues", "notes",
        ]  # fmt: skip


class PatternSerializer(serializers.Serializer[Any]):
    """The workload of one queue, from which jobs are drawn."""

    queue = serializers.CharField(max_length=253)
    jobs_per_hour = serializers.FloatField(min_value=0, max_value=100_000)
    run_median = serializers.FloatField(min_value=1, max_value=1e9, default=1200, help_text="Seconds.")
    run_spread = serializers.FloatField(
        min_value=0, max_value=5, default=1.5, help_text="Standard deviation of the run time's logarithm."
    )
    pods = serializers.DictField(
        child=serializers.FloatField(min_value=0),
        required=False,
        help_text="Relative frequency of each number of pods; default: always 1.",
    )
    requests = serializers.DictField(
        child=serializers.CharField(), required=False, help_text="Of each pod, as Kubernetes quantities."
    )
    by_hour = serializers.ListField(
        child=serializers.FloatField(min_value=0),
        min_length=24,
        max_length=24,
        required=False,
        help_text="Weights of the hours of a day, the first hour of the trace first.",
    )
    by_weekday = serializers.ListField(
        child=serializers.FloatField(min_value=0),
        min_length=7,
        max_length=7,
        required=False,
        help_text="Weights of the days of a week, the first day of the trace first.",
    )

    def validate_pods(self, value: dict[str, float]) -> dict[str, float]:
        """Validate that keys are counts and that one of them has a share."""
        if not all(name.isdecimal() and name.strip("0") for name in value) or not sum(value.values()):
            raise serializers.ValidationError("Write counts of pods with a share above 0.", "invalid")
        return value


class GeneratorSerializer(serializers.Serializer[Any]):
    """A workload to generate; the same patterns and seed give the same jobs."""

    patterns = PatternSerializer(many=True, allow_empty=False)
    seconds = serializers.FloatField(min_value=1, max_value=1e8)
    seed = serializers.IntegerField(min_value=0, max_value=2**53, default=1)


class OwnJobsSerializer(serializers.Serializer[Any]):
    """The jobs of a snapshot: finished ones, or all that were created since a time."""

    snapshot = serializers.UUIDField()
    since = serializers.CharField(
        required=False,
        default="",
        allow_blank=True,
        max_length=40,
        help_text="RFC 3339; default: finished ones.",
    )


class TraceUpload(Body):
    """A trace as text, as a file, from a snapshot's jobs, or generated."""

    name = serializers.CharField(max_length=253)
    text = serializers.CharField(required=False, trim_whitespace=False)
    file = serializers.FileField(required=False)
    generate = GeneratorSerializer(required=False)
    jobs_of = OwnJobsSerializer(required=False)
    format = serializers.ChoiceField(
        choices=sorted(FORMATS), required=False, help_text="Default: recognized by the first line."
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Require exactly one source."""
        if len({"text", "file", "generate", "jobs_of"} & attrs.keys()) != 1:
            raise serializers.ValidationError("Send one of text, file, generate and jobs_of.", code="one_of")
        return attrs


class QueueWorkSerializer(serializers.Serializer[Any]):
    """The jobs of one queue of a trace; run times in seconds."""

    queue = serializers.CharField(allow_blank=True)
    jobs = serializers.IntegerField()
    pods = serializers.IntegerField()
    run_median = serializers.FloatField(allow_null=True)
    run_p95 = serializers.FloatField(allow_null=True)
    pod_hours = serializers.FloatField()
    device_hours = serializers.DictField(
        child=serializers.FloatField(), help_text="By device: pod-hours times the devices of each pod."
    )


class TracePreviewSerializer(serializers.Serializer[Any]):
    """What a trace contains, and when."""

    jobs = serializers.IntegerField()
    span = serializers.FloatField(help_text="Seconds.")
    begin = serializers.CharField(allow_blank=True)
    queues = QueueWorkSerializer(many=True)
    bar_seconds = serializers.FloatField(help_text="The width of the intervals of `arrivals`.")
    arrivals = serializers.DictField(
        child=serializers.ListField(child=serializers.IntegerField()), help_text="Submitted jobs, by queue."
    )
    sizes = serializers.DictField(child=serializers.IntegerField(), help_text="Jobs by number of pods.")
    run_times = serializers.SerializerMethodField(help_text="Jobs by the longest run time, in seconds.")
    sources = serializers.DictField(child=serializers.IntegerField(), help_text="The source of run times.")
    notes = serializers.ListField(child=serializers.CharField())

    def get_run_times(self, preview: Preview) -> dict[str, int]:
        """Return the number of jobs by run time of at most this; `inf` has the rest."""
        return {f"{limit:g}": count for limit, count in preview.run_times.items()}
