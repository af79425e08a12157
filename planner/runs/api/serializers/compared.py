"""The API bodies of compared runs."""

from typing import Any

from drf_spectacular.extensions import OpenApiSerializerFieldExtension
from rest_framework import serializers

from planner.api.serializers import AmountsField
from planner.runs.models import Run


class RunByRun(serializers.ListField):
    """One value per run, in the requested order; null where a run has none."""

    def to_representation(self, held: Any) -> list[Any]:
        """Return one value per run."""
        assert self.child is not None, "a list of something"
        return [None if one is None else self.child.to_representation(one) for one in held]


class RunByRunSchema(OpenApiSerializerFieldExtension):  # type: ignore[no-untyped-call]
    """The schema of `RunByRun`."""

    target_class = RunByRun

    def map_serializer_field(self, auto_schema: Any, direction: Any) -> dict[str, Any]:
        """Return a list whose items may be null."""
        component = auto_schema.resolve_serializer(self.target.child, direction)
        return {"type": "array", "items": {"allOf": [component.ref], "nullable": True}}


class ComparedRunSerializer(serializers.Serializer[Any]):
    """The result of a run; `victims_new`, `_gone` and `_same` compare with the first run."""

    id = serializers.UUIDField(source="run.pk")
    scenario = serializers.UUIDField(source="run.scenario_id")
    scenario_name = serializers.CharField(source="run.scenario.name")
    scenario_revision = serializers.IntegerField(source="run.scenario_revision")
    state = serializers.ChoiceField(source="run.state", choices=Run.State.choices)
    created = serializers.DateTimeField(source="run.created")
    notes = serializers.ListField(
        child=serializers.CharField(), source="run.notes", help_text="What the run leaves out and assumes."
    )
    bound = serializers.IntegerField(source="counts.bound")
    pipelined = serializers.IntegerField(source="counts.pipelined")
    victims_committed = serializers.IntegerField(source="counts.victims_committed")
    victims_new = serializers.IntegerField(source="victims.new")
    victims_gone = serializers.IntegerField(source="victims.gone")
    victims_same = serializers.IntegerField(source="victims.same")
    work_lost = serializers.FloatField(
        help_text="Total run time of the evicted pods, in pod-seconds, where it is known."
    )
    work_unknown = serializers.IntegerField(help_text="Evictions of unknown run time.")
    jobs = serializers.IntegerField(source="counts.jobs")
    jobs_pending = serializers.IntegerField(source="counts.jobs_pending")


class SettingSerializer(serializers.Serializer[Any]):
    """A setting with a different value in some runs; an empty `field` means the whole object."""

    kind = serializers.CharField()
    name = serializers.CharField()
    field = serializers.CharField()
    values = serializers.ListField(
        child=serializers.JSONField(allow_null=True), help_text="One value per run."
    )


class ComparedQueue(serializers.Serializer[Any]):
    """The result of a run for a queue."""

    parent = serializers.CharField()  # type: ignore[assignment]  # a field, not the base's link
    in_session = serializers.BooleanField()
    weight = serializers.IntegerField(allow_null=True)
    share = serializers.FloatField(allow_null=True)
    share_at_open = serializers.FloatField(allow_null=True)
    deserved = AmountsField()
    allocated = AmountsField()
    request = AmountsField()
    guarantee = AmountsField()
    capability = AmountsField()


class QueueDeltaSerializer(serializers.Serializer[Any]):
    """How much more a queue has than in the first run; without amounts that are unlimited in either."""

    deserved = AmountsField()
    allocated = AmountsField()
    request = AmountsField()
    guarantee = AmountsField()
    capability = AmountsField()
    share = serializers.FloatField(allow_null=True)
    share_at_open = serializers.FloatField(allow_null=True)


class JobDeltaSerializer(serializers.Serializer[Any]):
    """How many more pods a job has, and how many more of them wait, than in the first run."""

    pods = serializers.IntegerField()
    pending = serializers.IntegerField()


class ComparedJob(serializers.Serializer[Any]):
    """The result of a run for a job."""

    queue = serializers.CharField()
    pods = serializers.IntegerField()
    pending = serializers.IntegerField(help_text="Waiting pods.")
    waits = serializers.BooleanField(help_text="For places for pods, or for its first pods.")
    ready = serializers.BooleanField()
    phase = serializers.CharField()
    gate = serializers.CharField()


class ComparedVictim(serializers.Serializer[Any]):
    """An eviction that a run committed."""

    job = serializers.CharField()
    queue = serializers.CharField()
    for_job = serializers.CharField()
    for_queue = serializers.CharField()
    action = serializers.CharField()
    ran_seconds = serializers.FloatField(allow_null=True)


class ComparedPlacement(serializers.Serializer[Any]):
    """Where a run places a pod."""

    node = serializers.CharField()
    op = serializers.ChoiceField(choices=["bind", "pipeline"])


class _Line(serializers.Serializer[Any]):
    """A named object."""

    name = serializers.CharField()
    differs = serializers.BooleanField()


class ComparedQueueLine(_Line):
    """A queue, run by run; null where a run has no such queue."""

    runs = RunByRun(child=ComparedQueue(), source="held")
    deltas = RunByRun(
        child=QueueDeltaSerializer(), help_text="One per run; null for the first, and where a run has none."
    )


class ComparedJobLine(_Line):
    """A job, run by run; null where a run has no such job."""

    runs = RunByRun(child=ComparedJob(), source="held")
    deltas = RunByRun(
        child=JobDeltaSerializer(), help_text="One per run; null for the first, and where a run has none."
    )


class ComparedVictimLine(_Line):
    """A pod, run by run; null where it stays."""

    runs = RunByRun(child=ComparedVictim(), source="held")


class ComparedPlacementLine(_Line):
    """A pod, run by run; null where it is not placed."""

    runs = RunByRun(child=ComparedPlacement(), source="held")


class ComparisonSerializer(serializers.Serializer[Any]):
    """Runs side by side, in the requested order; differences come first in every list."""

    related = serializers.BooleanField(
        help_text="Whether the runs are about one cluster: whether they share names of queues and nodes; "
        "if not, the lists are empty unless `anyway` is true."
    )
    runs = ComparedRunSerializer(many=True, source="heads")
    settings = SettingSerializer(many=True)
    queues = ComparedQueueLine(many=True)
    jobs = ComparedJobLine(many=True)
    victims = ComparedVictimLine(many=True)
    placements = ComparedPlacementLine(many=True)
    totals = serializers.DictField(
        child=serializers.IntegerField(), help_text="The length of each list; at most 1000 rows are returned."
    )
