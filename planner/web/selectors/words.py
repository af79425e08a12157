"""Filters of rows by words and tags."""

from functools import reduce
from operator import or_
from typing import Any, TypeVar

from django.db.models import Q, QuerySet

Rows = TypeVar("Rows", bound=QuerySet[Any])

EVENT_TEXTS = ("actor", "subject")
CHANGE_TEXTS = ("actor", "scenario__name", "key", "field")


def holding(rows: Rows, texts: tuple[str, ...], words: str) -> Rows:
    """Return the rows with the words in one of the `texts`, ignoring case; without words all rows."""
    return rows.filter(reduce(or_, (Q(**{f"{text}__icontains": words}) for text in texts))) if words else rows


def tagged(rows: Rows, tag: str) -> Rows:
    """Return the rows with a tag; they are kept as a JSON list."""
    return rows.filter(tags__icontains=f'"{tag.lower()}"')
