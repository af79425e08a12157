"""The API bodies of Kubernetes objects, with their own field names."""

from collections.abc import Callable, Mapping
from typing import Any

from rest_framework import serializers
from rest_framework.exceptions import ErrorDetail, ValidationError

from planner.api.bodies import Body
from planner.api.serializers import Edit


class ManifestSerializer(serializers.Serializer[Any]):
    """A Kubernetes object; it may have more fields than these."""

    apiVersion = serializers.CharField(required=False)  # noqa: N815  # Kubernetes' spelling
    kind = serializers.CharField(required=False)
    metadata = serializers.DictField(help_text="`name` at least.")
    spec = serializers.DictField(required=False, allow_null=True, help_text="A patch removes it by null.")
    status = serializers.DictField(required=False, allow_null=True, help_text="A patch removes it by null.")

    def to_representation(self, instance: Mapping[str, Any]) -> dict[str, Any]:
        """Return the object unchanged."""
        return dict(instance)


class ManifestEdited(Edit, ManifestSerializer):
    """An object after an edit, with problems and notes beside its fields."""


class NodesAddSerializer(Body):
    """Nodes to add: copies of a node, or of a given capacity."""

    count = serializers.IntegerField(min_value=1, max_value=20_000)
    prefix = serializers.CharField(max_length=240, help_text="Names consist of the prefix and a number.")
    like = serializers.CharField(max_length=253, required=False, help_text="A node of the scenario.")
    capacity = serializers.DictField(child=serializers.CharField(), required=False, help_text="Quantities.")
    labels = serializers.DictField(child=serializers.CharField(allow_blank=True), required=False)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Require exactly one shape."""
        if ("like" in attrs) == ("capacity" in attrs):
            raise serializers.ValidationError("Send either like or capacity.", code="one_of")
        return attrs


class NamesSerializer(Edit):
    """The names of what was created."""

    names = serializers.ListField(child=serializers.CharField())


def sent_object(body: Any) -> Mapping[str, Any]:
    """Return a body that is a JSON object, or answer 422."""
    if not isinstance(body, Mapping):
        raise ValidationError([ErrorDetail("Send a JSON object.", "not_an_object")])
    return body


def sent_manifest(body: Any) -> Mapping[str, Any]:
    """Return a body that is a Kubernetes object or a patch of one, or answer 422 for wrong types."""
    sent = sent_object(body)
    wrong = {
        name: [ErrorDetail(f"Send {message}.", "invalid")]
        for names, is_right, message in _PARTS
        for name in names
        if name in sent and not is_right(sent[name])
    }
    if wrong:
        raise ValidationError(wrong)
    return sent


def _is_word(value: Any) -> bool:
    return isinstance(value, str) and value.strip() != ""


def _is_object(value: Any) -> bool:
    return isinstance(value, Mapping)


def _is_object_or_nothing(value: Any) -> bool:
    return value is None or isinstance(value, Mapping)


_PARTS: tuple[tuple[tuple[str, ...], Callable[[Any], bool], str], ...] = (
    (("apiVersion", "kind"), _is_word, "a text that is not empty"),
    (("metadata",), _is_object, "a JSON object"),
    (("spec", "status"), _is_object_or_nothing, "a JSON object, or null to remove it"),
)
"""The known fields of an object, the check of each, and the message if it fails."""
