"""Headers of sortable tables, and differences in their cells."""

from collections.abc import Mapping
from typing import Any

from django import template
from django.http import QueryDict
from django.template import Context
from django.utils.html import format_html
from django.utils.safestring import SafeString

from planner.web.templatetags.quantities import KINDS, counted, soft
from planning.rows import Amounts
from planning.units import Scale, compact, points

register = template.Library()

NOTHING = 1e-9
"""Smaller differences of two floats are rounding errors."""

ORDERING, PAGE = "ordering", "page"


@register.simple_tag(takes_context=True)
def column(context: Context, field: str, label: str, kind: str = "") -> SafeString:
    """Return the header of a column; if the page's `table` can be sorted, it links to that order.

    `kind` is `number` for a column of numbers. A click on the current sort column reverses the order.
    """
    css = SafeString(' class="grid__number"') if kind == "number" else ""
    params: QueryDict | None = getattr(context.get("table"), "params", None)
    if params is None or not field:
        return format_html('<th scope="col"{}>{}</th>', css, label)
    order = params.get(ORDERING, "")
    falls = order == f"-{field}"
    rises = order == field
    first = f"-{field}" if kind == "number" else field
    following = {field: f"-{field}", f"-{field}": field}.get(order, first)
    sort = "descending" if falls else "ascending" if rises else "none"
    return format_html(
        '<th scope="col"{} aria-sort="{}"><a class="grid__sort" href="{}">{}'
        '<span class="grid__way" aria-hidden="true">{}</span></a></th>',
        css,
        sort,
        with_query(params, {ORDERING: following, PAGE: ""}),
        label,
        "▾" if falls else "▴" if rises else "",
    )


@register.simple_tag
def more(delta: Amounts, resource: str, scale: Scale) -> SafeString:
    """Show by how much an amount grew, in the unit of its column; a dash if either is unlimited."""
    grown = delta.get(resource)
    if grown is None:
        return soft("–")
    return _signed(grown, compact(scale.number(abs(grown))))


@register.simple_tag
def more_share(grown: float | None) -> SafeString:
    """Show by how many percentage points a share grew."""
    if grown is None:
        return soft("–")
    return _signed(grown, points(abs(grown)))


@register.simple_tag
def more_of(grown: int, word: str) -> SafeString:
    """Show by how many a count grew."""
    return _signed(grown, counted(abs(grown), word))


def _signed(grown: float, text: str) -> SafeString:
    if abs(grown) < NOTHING:
        return soft(format_html('<data value="{}">±0</data>', repr(grown)))
    return format_html(
        '<strong><data value="{}">{}{}</data></strong>', repr(grown), "+" if grown > 0 else "−", text
    )


@register.filter
def without(params: QueryDict, name: str) -> str:
    """Return the query string without a parameter, from its first page on."""
    return with_query(params, {name: "", PAGE: ""})


def with_query(params: QueryDict, changed: Mapping[str, Any]) -> str:
    """Return the query string with other values; an empty one removes its parameter."""
    kept = params.copy()
    for name, value in changed.items():
        if value:
            kept[name] = value
        else:
            kept.pop(name, None)
    return f"?{kept.urlencode()}"


@register.filter
def kind_word(kind: str) -> str:
    """Return the word for an object of a list of a scenario document."""
    return KINDS.get(kind, (kind, kind))[0]
