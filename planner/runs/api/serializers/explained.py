"""The API bodies of explanations: the rows of the pages, each amount with its unit."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from planner.api.serializers import AmountSerializer, AmountsField, amount_body
from planner.runs.api.serializers.evictions import FlowRowSerializer, ReasonSerializer
from planner.runs.api.serializers.runs import (
    DecisionSerializer,
    JobOutcomeSerializer,
    QueueOutcomeSerializer,
    VictimSerializer,
)
from planning.rows import DerivationStep, Shortage


class DerivationStepSerializer(serializers.Serializer[Any]):
    """A round of the division, or a level of the hierarchy."""

    plugin = serializers.CharField()
    number = serializers.IntegerField(help_text="The round from 1, or the level from 0.")
    queue = serializers.CharField(help_text="The queue of the level; empty for a round.")
    terms = serializers.DictField(help_text="Weights, shares, and whether the queue is saturated.")
    amounts = serializers.SerializerMethodField()
    clipped_by = serializers.DictField(child=serializers.CharField(), help_text="By resource.")

    @extend_schema_field(serializers.DictField(child=serializers.DictField(child=AmountSerializer())))
    def get_amounts(self, step: DerivationStep) -> dict[str, Any]:
        """Return the amounts of the step by name and resource."""
        return {
            name: {resource: amount_body(resource, value) for resource, value in amounts.items()}
            for name, amounts in step.amounts.items()
        }


class DerivationSerializer(serializers.Serializer[Any]):
    """How the deserved amount of a queue was calculated in the last cycle."""

    cycle = serializers.IntegerField()
    plugin = serializers.CharField()
    deserved = AmountsField()
    summary = ReasonSerializer()
    steps = DerivationStepSerializer(many=True)
    tree = DerivationStepSerializer(many=True, help_text="Levels of hierarchical drf.")
    tree_summary = ReasonSerializer(allow_null=True)


class QueueStorySerializer(serializers.Serializer[Any]):
    """The result of a run for a queue, and why."""

    figures = QueueOutcomeSerializer()
    deserved = DerivationSerializer(allow_null=True, help_text="Null if nothing was recorded or calculated.")
    taken = FlowRowSerializer(many=True, help_text="Evictions from it.")
    given = FlowRowSerializer(many=True, help_text="Evictions for it.")


class ShortageSerializer(serializers.Serializer[Any]):
    """What a gate requires of one resource."""

    resource = serializers.CharField()
    required = serializers.SerializerMethodField()  # type: ignore[assignment]  # a field, not the base's flag
    available = serializers.SerializerMethodField()
    missing = serializers.SerializerMethodField()

    @extend_schema_field(AmountSerializer)
    def get_required(self, row: Shortage) -> dict[str, Any]:
        """Return the required amount."""
        return amount_body(row.resource, row.required)

    @extend_schema_field(AmountSerializer)
    def get_available(self, row: Shortage) -> dict[str, Any]:
        """Return the available amount; negative if a limit is exceeded."""
        return amount_body(row.resource, row.available)

    @extend_schema_field(AmountSerializer)
    def get_missing(self, row: Shortage) -> dict[str, Any]:
        """Return the missing amount."""
        return amount_body(row.resource, row.missing)


class NodesRefusingSerializer(serializers.Serializer[Any]):
    """How many nodes reject a pod for one reason."""

    count = serializers.IntegerField(help_text="Nodes.")
    text = serializers.CharField()
    reason = ReasonSerializer()


class ClosestNodeSerializer(serializers.Serializer[Any]):
    """The node that lacks the least."""

    node = serializers.CharField()
    lacks = AmountsField()
    free = AmountsField()


class JobPendingSerializer(serializers.Serializer[Any]):
    """Why a job waits."""

    gate = serializers.CharField()
    plugin = serializers.CharField()
    queue = serializers.CharField(
        help_text="The queue that is out of resources: the job's own or an ancestor."
    )
    pod = serializers.CharField()
    members = serializers.DictField(child=serializers.IntegerField(), help_text="Pods.")
    reason = ReasonSerializer()
    short = ShortageSerializer(many=True)
    nodes = NodesRefusingSerializer(many=True)
    closest = ClosestNodeSerializer(allow_null=True)


class JobStorySerializer(serializers.Serializer[Any]):
    """The result of a run for a job, and why."""

    outcome = JobOutcomeSerializer()
    pending = JobPendingSerializer(allow_null=True, help_text="Null if none of its pods waits.")
    decisions = DecisionSerializer(many=True, help_text="At most 200; `decisions/?job=` pages through all.")
    taken = VictimSerializer(many=True, help_text="Its own pods that were chosen as victims.")
    given = VictimSerializer(many=True, help_text="Pods chosen as victims for it.")


class PodPlaceSerializer(serializers.Serializer[Any]):
    """The place of a pod at the end of the run."""

    pod = serializers.CharField()
    job = serializers.CharField()
    status = serializers.CharField()
    node = serializers.CharField()
    why = serializers.CharField(help_text="Why it waits.")


class PodStorySerializer(serializers.Serializer[Any]):
    """The result of a run for a pod."""

    reason = ReasonSerializer(help_text="Where it is, or why it waits, in one sentence.")
    place = PodPlaceSerializer(allow_null=True, help_text="Null if no job has it at the end.")
    decisions = DecisionSerializer(many=True, help_text="About it, and evictions for it; at most 200.")
    victims = VictimSerializer(many=True, help_text="Evictions of it and for it.")


class NodeMomentSerializer(serializers.Serializer[Any]):
    """The state of a node; `free` is idle plus releasing minus pipelined."""

    node = serializers.CharField()
    idle = AmountsField()
    releasing = AmountsField()
    pipelined = AmountsField()
    free = AmountsField()


class NodeStorySerializer(serializers.Serializer[Any]):
    """The result of a run for a node."""

    reason = ReasonSerializer(help_text="Its state at the end, in one sentence.")
    at_end = NodeMomentSerializer()
    pods = PodPlaceSerializer(many=True)
    decisions = DecisionSerializer(many=True, help_text="On it; at most 200.")
    victims = VictimSerializer(many=True)


class QueueMomentSerializer(serializers.Serializer[Any]):
    """The state of a queue."""

    queue = serializers.CharField()
    allocated = AmountsField()
    deserved = AmountsField()
    share = serializers.FloatField()


class StepSerializer(serializers.Serializer[Any]):
    """The state of queues and nodes after a step; step 0 is the start of the session."""

    step = DecisionSerializer(allow_null=True)
    steps = serializers.IntegerField(help_text="Number of steps.")
    cycle = serializers.IntegerField()
    queues = QueueMomentSerializer(many=True)
    nodes = NodeMomentSerializer(many=True)
