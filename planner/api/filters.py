"""Filters and orders of lists, declared once for the query string and the schema."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

import django_filters
from django.db.models import QuerySet
from django_filters.rest_framework import DjangoFilterBackend
from drf_spectacular.utils import OpenApiParameter
from rest_framework.exceptions import ErrorDetail, ValidationError
from rest_framework.request import Request
from rest_framework.views import APIView

from planner.web.selectors.words import holding, tagged

_OF_EVERY_LIST = {"page", "page_size", "fields", "format"}
ORDERING = "ordering"

Row = TypeVar("Row")


class KnownFilters(DjangoFilterBackend):
    """Filter by the declared filter set; an unknown parameter is an error, not the whole list."""

    def filter_queryset(self, request: Request, queryset: QuerySet[Any], view: APIView) -> QuerySet[Any]:
        """Return the matching rows."""
        known = set(self.get_filterset_class(view, queryset).base_filters) | _OF_EVERY_LIST
        refuse_unknown(request.query_params, known)
        rows: QuerySet[Any] = super().filter_queryset(request, queryset, view)
        return rows

    def get_filterset_kwargs(
        self, request: Request, queryset: QuerySet[Any], view: APIView
    ) -> dict[str, Any]:
        """Return the parameters with booleans in the spelling that a form reads; reject other values.

        A form treats unknown values as "either", which would return the whole list.
        """
        kwargs: dict[str, Any] = super().get_filterset_kwargs(request, queryset, view)
        filters = self.get_filterset_class(view, queryset).base_filters
        whole = [name for name, one in filters.items() if isinstance(one, django_filters.NumberFilter)]
        refuse_fractions(request.query_params, whole)
        flags = {
            name: is_requested(request, name)
            for name, one in filters.items()
            if isinstance(one, django_filters.BooleanFilter) and name in request.query_params
        }
        data = kwargs["data"].copy()
        data.update({name: str(yes).lower() for name, yes in flags.items()})
        return kwargs | {"data": data}


def refuse_unknown(params: Iterable[str], known: set[str]) -> None:
    """Raise for every unknown query parameter."""
    message = f"Unknown here. Known: {', '.join(sorted(known))}."
    unknown = {name: ErrorDetail(message, code="unknown_parameter") for name in params if name not in known}
    if unknown:
        raise ValidationError(unknown)


def refuse_fractions(params: Mapping[str, str], names: Iterable[str]) -> None:
    """Raise for each of these query parameters that is not a whole number."""
    wrong = {
        name: ErrorDetail("Write a whole number.", code="invalid")
        for name in names
        if name in params and not re.fullmatch(r"-?[0-9]{1,18}", params[name])
    }
    if wrong:
        raise ValidationError(wrong)


def refuse_empty(params: Mapping[str, str]) -> None:
    """Raise for every query parameter without a value: a script's empty variable is not the whole list."""
    message = "Write a value, or leave the parameter out."
    if empty := {
        name: ErrorDetail(message, code="blank") for name, value in params.items() if not value.strip(" ,")
    }:
        raise ValidationError(empty)


def words_filter(texts: tuple[str, ...], help_text: str) -> django_filters.CharFilter:
    """Return the filter of a list by words in any of its `texts`."""

    def found(rows: QuerySet[Any], name: str, words: str) -> QuerySet[Any]:
        return holding(rows, texts, words)

    return django_filters.CharFilter(method=found, help_text=help_text)


_WORDS = {"true": True, "1": True, "false": False, "0": False}


def is_requested(request: Request, name: str) -> bool | None:
    """Return the value of a boolean parameter; None if it is missing."""
    text = request.query_params.get(name)
    if text is None:
        return None
    if text.lower() not in _WORDS:
        raise ValidationError({name: [ErrorDetail("Write true or false.", "invalid")]})
    return _WORDS[text.lower()]


def refuse_other_words(request: Request, words: Mapping[str, Sequence[str]]) -> None:
    """Raise ValidationError for each parameter whose value is not one of its choices."""
    wrong = {
        name: [ErrorDetail(f"Write one of {', '.join(known)}.", "invalid_choice")]
        for name, known in words.items()
        if name in request.query_params and request.query_params[name] not in known
    }
    if wrong:
        raise ValidationError(wrong)


def in_requested_order(
    rows: list[Row], request: Request, keys: Mapping[str, Callable[[Row], Any]]
) -> list[Row]:
    """Return rows that are no queryset, in the order of ``ordering=-pending,name``, otherwise unchanged."""
    fields = [name for name in request.query_params.get(ORDERING, "").split(",") if name]
    if unknown := [name for name in fields if name.removeprefix("-") not in keys]:
        message = f"Unknown here: {', '.join(unknown)}. Known: {', '.join(keys)}, each also with a -."
        raise ValidationError({ORDERING: [ErrorDetail(message, "invalid_choice")]})
    for name in reversed(fields):
        rows = sorted(rows, key=keys[name.removeprefix("-")], reverse=name.startswith("-"))
    return rows


def ordering_parameter(names: Iterable[str]) -> OpenApiParameter:
    """Return the schema of the parameter `ordering` of a list that is no queryset."""
    both = [way + name for name in names for way in ("", "-")]
    return OpenApiParameter(ORDERING, str, enum=both, many=True, explode=False, style="form")


class LabelledFilter(django_filters.FilterSet):
    """Filters by name, tag and archive."""

    tag = django_filters.CharFilter(method="filter_tag", help_text="One of its tags.")
    archived = django_filters.BooleanFilter(
        field_name="archived",
        lookup_expr="isnull",
        exclude=True,
        help_text="Whether it is archived; without it both are listed.",
    )

    def filter_tag(self, rows: QuerySet[Any], name: str, value: str) -> QuerySet[Any]:
        """Return the rows with a tag."""
        return tagged(rows, value)
