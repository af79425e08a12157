"""The API bodies of workloads."""

from typing import Any

from rest_framework import serializers

from planner.api.bodies import Body
from planner.api.serializers import AmountsField, Edit
from planner.scenarios.api.serializers.queues import QuantitiesField
from planning.constraint_choices import LIKE_QUEUE, NODE_CONSTRAINTS
from planning.workload_fields import KINDS

_KINDS = f"One of {', '.join(KINDS)}."


class WorkloadSerializer(serializers.Serializer[Any]):
    """A vcjob, a PodGroup with its pods, or a pod without one; `requests` are those of one pod."""

    kind = serializers.CharField(help_text=_KINDS)
    namespace = serializers.CharField()
    name = serializers.CharField()
    queue = serializers.CharField()
    priorityClassName = serializers.CharField(source="priority_class")  # noqa: N815  # Kubernetes' spelling
    minMember = serializers.IntegerField(source="min_member")  # noqa: N815  # the CRD's spelling
    replicas = serializers.IntegerField(help_text="Pods.")
    running = serializers.IntegerField(help_text="Pods on a node.")
    pending = serializers.IntegerField(help_text="Waiting pods.")
    requests = QuantitiesField()
    amounts = AmountsField()
    origin = serializers.ChoiceField(choices=["imported", "changed", "added"])


class WorkloadEdited(Edit, WorkloadSerializer):
    """A workload after an edit."""


class JobAddSerializer(serializers.Serializer[Any]):
    """A job to add by its fields; it becomes a vcjob with one task."""

    name = serializers.CharField(max_length=253)
    namespace = serializers.CharField(max_length=253, required=False)
    queue = serializers.CharField(max_length=253, required=False)
    priorityClassName = serializers.CharField(max_length=253, required=False)  # noqa: N815
    minMember = serializers.IntegerField(required=False, help_text="Default: all replicas.")  # noqa: N815
    replicas = serializers.IntegerField()
    requests = QuantitiesField(required=False)
    node_constraints = serializers.ChoiceField(
        choices=list(NODE_CONSTRAINTS),
        default=LIKE_QUEUE,
        help_text="Tolerations and node selectors: like pods of its queue with the same devices, or none.",
    )


class CopySerializer(serializers.Serializer[Any]):
    """A workload to copy."""

    kind = serializers.CharField(help_text=_KINDS)
    namespace = serializers.CharField(max_length=253)
    name = serializers.CharField(max_length=253)
    count = serializers.IntegerField(min_value=1, max_value=10_000, default=1)


class WorkloadAddSerializer(Body):
    """What to add: a job by its fields, the text of vcjobs, podgroups and pods, or copies."""

    job = JobAddSerializer(required=False)
    documents = serializers.CharField(required=False, trim_whitespace=False, help_text="YAML or JSON.")
    copy = CopySerializer(required=False)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Require exactly one of the three."""
        if len(attrs) != 1:
            raise serializers.ValidationError("Send one of job, documents, copy.", code="one_of")
        return attrs


class WorkloadPatch(serializers.Serializer[Any]):
    """Fields to change; null removes a queue or priority class (as an empty text does), or a request."""

    queue = serializers.CharField(allow_null=True, allow_blank=True, required=False)
    priorityClassName = serializers.CharField(allow_null=True, allow_blank=True, required=False)  # noqa: N815
    minMember = serializers.IntegerField(required=False)  # noqa: N815
    replicas = serializers.IntegerField(required=False)
    requests = serializers.DictField(child=serializers.CharField(allow_null=True), required=False)


class ObjectNamed(serializers.Serializer[Any]):
    """An object that an edit touched."""

    kind = serializers.CharField()
    key = serializers.CharField()


class ObjectsTouched(Edit):
    """The objects that an edit added."""

    objects = ObjectNamed(many=True)
