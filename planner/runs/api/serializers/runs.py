"""The API bodies of runs and their outcomes."""

from collections.abc import Mapping
from functools import cached_property
from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from planner.api.bodies import Body
from planner.api.serializers import AmountSerializer, AmountsField, ReadableRow, amount_body
from planner.runs.models import JobOutcome, QueueOutcome, Run, Victim
from planner.runs.models.outcome import DecisionState
from planning.amounts import limited_amounts
from planning.contents import MOST_CYCLES
from planning.deficits import deficit
from planning.rows import COUNTING, Decision

_MEASURED = ("required", "available", "missing")


class RunOptions(Body):
    """How to run a scenario."""

    cycles = serializers.IntegerField(min_value=1, max_value=MOST_CYCLES, default=1)


class KeptRunOptions(RunOptions):
    """The options of a run."""

    cycles = serializers.IntegerField(allow_null=True)


class RunCountsSerializer(serializers.Serializer[Any]):
    """How much a run decided: a pod of several cycles counts once, but each of its evictions counts."""

    bound = serializers.IntegerField(help_text="Pods that are still bound at the end.")
    pipelined = serializers.IntegerField(help_text="Pods.")
    evictions = serializers.IntegerField()
    victims_committed = serializers.IntegerField(help_text="Pods.")
    victims_kept = serializers.IntegerField(help_text="Pods.")
    victims_failed = serializers.IntegerField(help_text="Pods.")
    jobs = serializers.IntegerField()
    jobs_pending = serializers.IntegerField()
    decisions = serializers.IntegerField()
    counting = serializers.IntegerField(
        default=0,
        help_text=f"The version of the rules of counting, now {COUNTING}; "
        "an older one: counted by the rules of an earlier version.",
    )


class RunSerializer(ReadableRow, serializers.ModelSerializer[Run]):
    """One execution of a scenario's revision."""

    owner = serializers.CharField(source="owner.username", allow_null=True, default=None)
    input_sha256 = serializers.CharField(source="input_id")
    result_sha256 = serializers.CharField(source="result_id", allow_null=True)
    timings = serializers.DictField(child=serializers.FloatField(), help_text="Milliseconds.")
    options = KeptRunOptions()
    tags = serializers.ListField(child=serializers.CharField())
    counts = RunCountsSerializer(
        source="outcome.counts", allow_null=True, default=None, help_text="null until the run succeeded."
    )
    notes = serializers.ListField(
        child=serializers.CharField(),
        help_text="What the run does not model (`Not modelled: …`) and what it assumes.",
    )

    class Meta:
        model = Run
        fields = [
            "id", "name", "note", "tags", "archived", "state", "scenario", "scenario_revision", "owner",
            "options", "counts", "progress", "doing", "error",
            "notes", "engine_version", "attempt", "cancel_requested", "created", "started", "finished",
            "timings", "input_sha256", "result_sha256",
        ]  # fmt: skip


class DeficitField(AmountsField):
    """The deserved and requested amounts that a queue lacks, by resource."""

    def to_representation(self, value: Any) -> dict[str, Any]:
        """Return them with their units."""
        return super().to_representation({name: deficit(value, name) for name in value.deserved})


class QueueOutcomeSerializer(serializers.ModelSerializer[QueueOutcome]):
    """The result of a run for one queue, at the end of the last cycle unless the name says otherwise."""

    deserved = AmountsField()
    deficit = DeficitField(source="*", read_only=True)
    allocated = AmountsField()
    allocated_at_open = AmountsField()
    request = AmountsField()
    capability = AmountsField()
    real_capability = AmountsField()
    guarantee = AmountsField()
    elastic = AmountsField()
    inqueue = AmountsField()

    class Meta:
        model = QueueOutcome
        fields = [
            "queue", "parent", "depth", "weight", "in_session", "overused", "share", "share_at_open",
            "deserved", "deficit", "allocated", "allocated_at_open", "request", "capability",
            "real_capability", "guarantee", "elastic", "inqueue",
        ]  # fmt: skip


class PendingSerializer(serializers.Serializer[Any]):
    """Why a job waits, and what it lacks; fields that do not apply to the gate are null."""

    gate = serializers.CharField()
    plugin = serializers.CharField(allow_null=True)
    queue = serializers.CharField(allow_null=True)
    pod = serializers.CharField(allow_null=True)
    resource = serializers.CharField(allow_null=True)
    required = AmountSerializer(allow_null=True)  # type: ignore[assignment]  # a field, not the base's flag
    available = AmountSerializer(allow_null=True)
    missing = AmountSerializer(allow_null=True)
    message = serializers.CharField(allow_null=True)
    nodes = serializers.DictField(child=serializers.IntegerField(), help_text="Nodes by reason.")

    def to_representation(self, instance: Mapping[str, Any]) -> dict[str, Any]:
        """Return the core's explanation with the unit of each amount."""
        resource = instance.get("resource")
        measured = limited_amounts({key: instance[key] for key in _MEASURED if key in instance})
        return {
            **{key: instance.get(key) for key in map(str, self.fields)},
            **{key: amount_body(resource, value) for key, value in measured.items() if resource},
            "nodes": instance.get("nodes") or {},
        }


class JobOutcomeSerializer(serializers.ModelSerializer[JobOutcome]):
    """The result of a run for one job, at the end of the last cycle."""

    task_status = serializers.DictField(child=serializers.IntegerField())
    waits = serializers.BooleanField(read_only=True, help_text="For places for pods, or for its first pods.")
    pending_reasons = serializers.DictField()
    pending_explain = serializers.SerializerMethodField()

    class Meta:
        model = JobOutcome
        fields = [
            "job", "queue", "phase_before", "phase_after", "priority", "min_available", "pods", "task_status",
            "pending", "waits", "ready", "pipelined", "starving", "gate", "message", "fit_error",
            "pending_reasons", "pending_explain",
        ]  # fmt: skip

    @extend_schema_field(PendingSerializer(allow_null=True))
    def get_pending_explain(self, job: JobOutcome) -> dict[str, Any] | None:
        """Return why the job waits, or None."""
        return self._pending.to_representation(job.pending_explain) if job.pending_explain else None

    @cached_property
    def _pending(self) -> PendingSerializer:
        """One for all rows: each new one copies its fields, a third of the time of a long table."""
        return PendingSerializer()


class VictimSerializer(serializers.ModelSerializer[Victim]):
    """A running pod that a run selected for eviction, and the pod it was evicted for."""

    class Meta:
        model = Victim
        fields = [
            "order", "cycle", "pod", "job", "queue", "node", "for_pod", "for_job", "for_queue", "action",
            "reason", "state", "ran_seconds",
        ]  # fmt: skip


class DecisionSerializer(serializers.Serializer[Decision]):
    """One decision of a run."""

    seq = serializers.IntegerField()
    cycle = serializers.IntegerField()
    action = serializers.CharField()
    op = serializers.CharField()
    job = serializers.CharField()
    pod = serializers.CharField()
    node = serializers.CharField()
    reason = serializers.CharField()
    for_pod = serializers.CharField()
    state = serializers.ChoiceField(choices=DecisionState.choices, allow_blank=True)
