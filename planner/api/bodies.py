"""Strict request bodies: a number is not a text, and a key that nothing reads is an error."""

from collections.abc import Iterable, Mapping
from typing import Any

from rest_framework import serializers
from rest_framework.exceptions import ErrorDetail, ValidationError
from rest_framework.utils.html import is_html_input


class Body(serializers.Serializer[Any]):
    """A request body without unknown keys; JSON values have the type of the schema, form values are texts."""

    def get_fields(self) -> dict[str, Any]:
        """Return the fields; an error of a choice names the possible values."""
        fields = super().get_fields()
        for field in fields.values():
            _name_choices(field)
        return fields

    def to_internal_value(self, data: Any) -> Any:
        """Return the validated body, or raise with all errors at once."""
        wrong = _unknown(self, data) if is_html_input(data) else unlike(self, data)
        try:
            value = super().to_internal_value(data)
        except ValidationError as error:
            raise ValidationError(_both(error.detail, wrong)) from error
        if wrong:
            raise ValidationError(wrong)
        return value


def _name_choices(field: Any) -> None:
    """Let the errors of choices in a field name the possible values."""
    if isinstance(field, serializers.ChoiceField):
        field.error_messages["invalid_choice"] = f"Write one of {', '.join(map(str, field.choices))}."
    elif isinstance(field, serializers.ListSerializer | serializers.ListField | serializers.DictField):
        _name_choices(field.child)
    elif isinstance(field, serializers.Serializer):
        for inner in field.fields.values():
            _name_choices(inner)


def unlike(field: Any, value: Any) -> Any:
    """Return errors for unknown keys, and for values whose JSON type a field does not accept.

    They are shaped like a serializer's errors: by name in an object, by number in a list.

    Null is left to the field, which knows whether it is allowed; no error is an empty result.
    """
    if isinstance(field, serializers.Serializer):
        named = value if isinstance(value, Mapping) else {}
        of_fields = {name: unlike(one, named[name]) for name, one in field.fields.items() if name in named}
        return _unknown(field, named) | _found(of_fields)
    if isinstance(field, serializers.DictField):
        named = value if isinstance(value, Mapping) else {}
        return _found({str(name): unlike(field.child, one) for name, one in named.items()})
    if isinstance(field, serializers.ListField | serializers.ListSerializer):
        listed = value if isinstance(value, list) else []
        return _found({place: unlike(field.child, one) for place, one in enumerate(listed)})
    for fields, types, message in _TYPES:
        if isinstance(field, fields):
            return [] if value is None or _is_of(value, types) else [ErrorDetail(message, "invalid")]
    return []


def _unknown(body: Any, names: Iterable[Any]) -> dict[str, Any]:
    known = [name for name, field in body.fields.items() if not field.read_only]
    message = f"Unknown here. Known: {', '.join(known)}."
    return {str(name): [ErrorDetail(message, "unknown")] for name in names if name not in body.fields}


def _both(errors: Any, wrong: dict[str, Any]) -> Any:
    """Return the errors of the fields, with errors of types where a field has none."""
    return {**wrong, **errors} if isinstance(errors, dict) else errors


def _found(errors: Mapping[Any, Any]) -> dict[Any, Any]:
    return {place: wrong for place, wrong in errors.items() if wrong}


def _is_of(value: Any, types: tuple[type, ...]) -> bool:
    if isinstance(value, bool):
        return bool in types
    if types == (int,) and isinstance(value, float):
        return value.is_integer()  # JSON does not distinguish 5 and 5.0
    return isinstance(value, types)


_TYPES: tuple[tuple[tuple[type, ...], tuple[type, ...], str], ...] = (
    ((serializers.BooleanField,), (bool,), "Send true or false."),
    ((serializers.IntegerField,), (int,), "Send a whole number."),
    ((serializers.FloatField,), (int, float), "Send a number."),
    ((serializers.CharField, serializers.UUIDField), (str,), "Send a text."),
)
"""The accepted Python types of each field, and the message for other types."""
