"""What do scripts read and write of Kubernetes objects? The objects themselves, in their own spelling."""

from collections.abc import Mapping
from typing import Any

from rest_framework import serializers
from rest_framework.exceptions import ErrorDetail, ValidationError


class ManifestSerializer(serializers.Serializer[Any]):
    """A Kubernetes object; it may have more parts than are named here."""

    apiVersion = serializers.CharField(required=False)  # noqa: N815  # Kubernetes' spelling
    kind = serializers.CharField(required=False)
    metadata = serializers.DictField(help_text="`name` at least.")
    spec = serializers.DictField(required=False)
    status = serializers.DictField(required=False)

    def to_representation(self, instance: Mapping[str, Any]) -> dict[str, Any]:
        """Return the object as it is."""
        return dict(instance)


class NodesAddSerializer(serializers.Serializer[Any]):
    """Nodes to add: like one that is there, or of a capacity."""

    count = serializers.IntegerField(min_value=1, max_value=20_000)
    prefix = serializers.CharField(max_length=240, help_text="Names consist of the prefix and a number.")
    like = serializers.CharField(max_length=253, required=False, help_text="A node of the scenario.")
    capacity = serializers.DictField(child=serializers.CharField(), required=False, help_text="Quantities.")
    labels = serializers.DictField(child=serializers.CharField(allow_blank=True), required=False)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Ask for exactly one shape."""
        if ("like" in attrs) == ("capacity" in attrs):
            raise serializers.ValidationError("Send either like or capacity.", code="one_of")
        return attrs


class NamesSerializer(serializers.Serializer[Any]):
    """What was made."""

    names = serializers.ListField(child=serializers.CharField())


def sent_object(body: Any) -> Mapping[str, Any]:
    """Return a body that is a JSON object, or answer 422."""
    if not isinstance(body, Mapping):
        raise ValidationError([ErrorDetail("Send a JSON object.", "not_an_object")])
    return body
