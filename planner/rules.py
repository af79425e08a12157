"""Rules for writing rows: those of their models, and that they still exist."""

from typing import TypeVar

from django.core.exceptions import ObjectDoesNotExist, ValidationError
from django.db.models import Field, JSONField, Model

from planner.errors import Gone, Invalid
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


def row_lock(row: Row, *, shares_key: bool = False, **still: object) -> Row:
    """Return the current row, locked until the transaction ends; raise Gone if it was deleted (1 query).

    Also raises Gone if a field no longer has the value given in `still`. With `shares_key` others may store
    rows that refer to this one.
    """
    rows = type(row)._default_manager.select_for_update(no_key=shares_key)
    present = rows.filter(pk=row.pk, **still).first()
    if present is None:
        raise _gone(row)
    return present


def row_reread(row: Model) -> None:
    """Reread the fields of a row; raise Gone if it was deleted (1 query)."""
    try:
        row.refresh_from_db()
    except ObjectDoesNotExist:
        raise _gone(row) from None


def _gone(row: Model) -> Gone:
    return Gone(f"The {row._meta.verbose_name} was deleted in the meantime. Nothing was saved.")


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
