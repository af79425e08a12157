"""Is a body of the JSON types that the schema says? A number is no text, and a text is no number."""

from collections.abc import Mapping
from typing import Any

from rest_framework import serializers
from rest_framework.exceptions import ErrorDetail, ValidationError
from rest_framework.utils.html import is_html_input


class Body(serializers.Serializer[Any]):
    """What a caller sends; of JSON each value has the type that the schema says, a form has texts only."""

    def to_internal_value(self, data: Any) -> Any:
        """Return what the fields make of a body, or raise for all that is wrong with it at once."""
        wrong = {} if is_html_input(data) else unlike(self, data)
        try:
            value = super().to_internal_value(data)
        except ValidationError as error:
            raise ValidationError(_both(error.detail, wrong)) from error
        if wrong:
            raise ValidationError(wrong)
        return value


def unlike(field: Any, value: Any) -> Any:
    """Return what has another JSON type than a field takes, in the shape of a serializer's errors.

    Null is left to the field, which knows whether it takes it; nothing wrong is an empty answer.
    """
    if isinstance(field, serializers.Serializer):
        named = value if isinstance(value, Mapping) else {}
        return _found({name: unlike(one, named[name]) for name, one in field.fields.items() if name in named})
    if isinstance(field, serializers.DictField):
        named = value if isinstance(value, Mapping) else {}
        return _found({str(name): unlike(field.child, one) for name, one in named.items()})
    if isinstance(field, serializers.ListField | serializers.ListSerializer):
        listed = value if isinstance(value, list) else []
        return _found({str(place): unlike(field.child, one) for place, one in enumerate(listed)})
    for fields, types, message in _TYPES:
        if isinstance(field, fields):
            return [] if value is None or _is_of(value, types) else [ErrorDetail(message, "invalid")]
    return []


def _both(errors: Any, wrong: dict[str, Any]) -> Any:
    """Return the errors of the fields, and of wrong types where a field itself says nothing."""
    return {**wrong, **errors} if isinstance(errors, dict) else errors


def _found(errors: dict[str, Any]) -> dict[str, Any]:
    return {name: wrong for name, wrong in errors.items() if wrong}


def _is_of(value: Any, types: tuple[type, ...]) -> bool:
    if isinstance(value, bool):
        return bool in types
    if types == (int,) and isinstance(value, float):
        return value.is_integer()  # JSON tells 5 and 5.0 not apart
    return isinstance(value, types)


_TYPES: tuple[tuple[tuple[type, ...], tuple[type, ...], str], ...] = (
    ((serializers.BooleanField,), (bool,), "Send true or false."),
    ((serializers.IntegerField,), (int,), "Send a whole number."),
    ((serializers.FloatField,), (int, float), "Send a number."),
    ((serializers.CharField, serializers.UUIDField), (str,), "Send a text."),
)
"""Which types of Python JSON becomes for which fields, and what is said of all others."""
