"""The parameter that orders a list."""

from typing import Any

import django_filters
from django.db.models import QuerySet


class Ordering(django_filters.OrderingFilter):
    """The requested order; equal rows follow in the order of `then`."""

    def __init__(self, *, then: str = "", **options: Any) -> None:
        super().__init__(**options)
        self._then = [then] if then else []

    def filter(self, rows: QuerySet[Any], value: Any) -> QuerySet[Any]:
        """Return the rows in that order."""
        found: QuerySet[Any] = super().filter(rows, value)
        return found.order_by(*found.query.order_by, *self._then) if value else found


def order(*fields: str | tuple[str, str], then: str = "") -> Ordering:
    """Return the parameter that orders a list by these fields; a pair is a field and its public name."""
    pairs = [field if isinstance(field, tuple) else (field, field) for field in fields]
    return Ordering(fields=pairs, then=then)
