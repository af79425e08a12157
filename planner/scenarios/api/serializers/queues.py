"""The API bodies of queues."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from planner.api.serializers import AmountsField, Edit, ProblemSerializer
from planner.scenarios.models import Queue
from planning.preview import Preview
from planning.queues import queue_spec


class QuantitiesField(serializers.DictField):
    """Quantities by resource, as Kubernetes writes them: strings such as `8`, `500m`, `32Gi`."""

    child = serializers.CharField()


class GuaranteeSerializer(serializers.Serializer[Any]):
    """Resources reserved for a queue."""

    resource = QuantitiesField(required=False)


class QueueSerializer(serializers.Serializer[Any]):
    """A queue of a scenario, with the field names of its CRD; unset fields are null or empty."""

    name = serializers.CharField()
    parent = serializers.CharField(allow_null=True)  # type: ignore[assignment]  # a field, not the base's link
    weight = serializers.IntegerField(allow_null=True)
    priority = serializers.IntegerField(allow_null=True)
    reclaimable = serializers.BooleanField(allow_null=True)
    state = serializers.CharField(allow_null=True)
    guarantee = GuaranteeSerializer()
    deserved = QuantitiesField()
    capability = QuantitiesField()
    dequeueStrategy = serializers.CharField(allow_null=True)  # noqa: N815  # the CRD's spelling
    affinity = serializers.DictField()
    type = serializers.JSONField(allow_null=True)
    extendClusters = serializers.JSONField(allow_null=True)  # noqa: N815  # the CRD's spelling
    annotations = serializers.DictField(child=serializers.CharField())
    labels = serializers.DictField(child=serializers.CharField())

    def to_representation(self, instance: Queue) -> dict[str, Any]:
        """Return the fields of a queue's row."""
        return queue_spec(instance)


class QueueEdited(Edit, QueueSerializer):
    """A queue after an edit."""


class QueuesPatch(serializers.Serializer[Any]):
    """Edits of several queues in one revision."""

    queues = serializers.DictField(
        child=serializers.JSONField(),
        help_text="Queue name to its JSON merge patch. Weights, priorities and quantities also take "
        "arithmetic: `+10%`, `2x`, `1/3 of root`, `40% of parent`.",
    )


class QueuesEdited(Edit):
    """The edited queues."""

    queues = QueueSerializer(many=True)


class QueueAnswerSerializer(serializers.Serializer[Any]):
    """The figures of one queue at the start of a session, and its jobs and pods."""

    queue = serializers.CharField()
    in_session = serializers.BooleanField(help_text="Queues without jobs are not in the session.")
    share = serializers.FloatField(allow_null=True)
    deserved = AmountsField()
    real_capability = AmountsField()
    allocated = AmountsField()
    request = AmountsField()
    guarantee_of_children = AmountsField()
    deserved_of_children = AmountsField()
    jobs = serializers.IntegerField()
    running = serializers.IntegerField(help_text="Pods.")
    pending = serializers.IntegerField(help_text="Pods.")


class PreviewSerializer(serializers.Serializer[Any]):
    """The figures of all queues at the start of a session; nothing is scheduled."""

    plugin = serializers.CharField(help_text="The plugin that calculates deserved; empty if there is none.")
    obstacle = serializers.CharField(
        help_text="Why the capacity plugin would place nothing; empty otherwise."
    )
    error = serializers.CharField(help_text="Why there are no figures; empty otherwise.")
    total = AmountsField()
    without_effect = serializers.DictField(
        child=serializers.CharField(), help_text="Fields that are ignored, and why."
    )
    queues = serializers.SerializerMethodField()

    @extend_schema_field(QueueAnswerSerializer(many=True))
    def get_queues(self, preview: Preview) -> list[dict[str, Any]]:
        """Return the queues in the order of the import."""
        row = QueueAnswerSerializer()
        return [row.to_representation(answer) for answer in preview.queues.values()]


class EditsPreviewed(PreviewSerializer):
    """The figures of all queues with edits that are not saved."""

    edited = QueueSerializer(many=True, help_text="The edited queues, with arithmetic evaluated.")
    problems = ProblemSerializer(many=True, help_text="Why edits would be rejected; these are left out.")
