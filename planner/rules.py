"""Validation of rows against the rules of their models."""

from typing import TypeVar

from django.core.exceptions import ValidationError
from django.db.models import Field, JSONField, Model

from planner.errors import Invalid
from planning.rows import Problem

Row = TypeVar("Row", bound=Model)


_FIXES = {
    "required": "Write a value.",
    "blank": "Write a value.",
    "null": "Write a value.",
    "max_length": "Shorten it.",
    "invalid_choice": "Choose one of the possible values.",
    "min_value": "Write a larger number.",
    "max_value": "Write a smaller number.",
}


def fix_of(error: ValidationError) -> str | None:
    """Return how to fix a value that Django refuses; None for an error whose message says it."""
    return _FIXES.get(error.code or "")


def row_create(row: Row) -> Row:
    """Save a new row and return it; raise Invalid with every violated rule of its model."""
    row_validate(row)
    row.save(force_insert=True)
    return row


def row_validate(row: Model) -> None:
    """Raise Invalid with every rule of its model that a row violates.

    Uniqueness and foreign keys are left to the database, which sees concurrent writes.
    """
    free = {field.name for field in row._meta.concrete_fields if _is_free(row, field)}
    try:
        row.full_clean(exclude=free, validate_unique=False)
    except ValidationError as error:
        raise Invalid(
            [
                Problem(
                    f"{row._meta.model_name}.{name}",
                    "error",
                    f"{name}: {message}",
                    path=name,
                    field=name,
                    actual=str(getattr(row, name, ""))[:60],
                    fix=fix_of(one),
                )
                for name, errors in error.error_dict.items()
                for one in errors
                for message in one.messages
            ]
        ) from None


def _is_free(row: Model, field: "Field[object, object]") -> bool:
    """Return whether a value needs no validation: null, default, relation, or JSON, where [] is valid."""
    if field.is_relation or isinstance(field, JSONField):
        return True
    value = getattr(row, field.attname)
    return (field.null and value is None) or (field.has_default() and value == field.get_default())
