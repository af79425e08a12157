"""Amounts in columns whose header has the unit, and headers that sort."""

from typing import Any

from django import template
from django.template import RequestContext
from django.utils.html import format_html
from django.utils.safestring import SafeString

from planner.web.templatetags.quantities import exact, soft
from planning.rows import Amounts
from planning.units import Scale, compact, said_compact

register = template.Library()


@register.simple_tag
def cell(amounts: Amounts, resource: str, scale: Scale, absent: str = "–") -> SafeString:
    """Show an amount in the unit of its column, in few characters; the tooltip has the exact value."""
    if resource not in amounts:
        return soft(absent)
    value = amounts[resource]
    return soft("unlimited") if value is None else in_unit(value, resource, scale)


@register.simple_tag
def promised_cell(guarantee: Amounts, resource: str, scale: Scale) -> SafeString:
    """Show a guarantee; zero is none."""
    return cell(guarantee if guarantee.get(resource) else {}, resource, scale, "none")


@register.simple_tag
def in_unit(value: float, resource: str, scale: Scale) -> SafeString:
    """Show an amount in the unit of its column."""
    return _data(value, resource, compact(scale.number(value)))


@register.simple_tag
def cell_was(now: Amounts, before: Amounts | str | None, resource: str, scale: Scale) -> SafeString:
    """Show an amount of the run that this one is compared with, if it was different."""
    value = before.get(resource) if isinstance(before, dict) else None
    if value is None or value == now.get(resource):
        return SafeString("")
    return format_html('<small class="was">was {}</small>', in_unit(value, resource, scale))


@register.simple_tag
def in_short(value: float | None, resource: str) -> SafeString:
    """Show an amount with its unit in few characters."""
    return soft("–") if value is None else _data(value, resource, said_compact(resource, value))


@register.simple_tag(takes_context=True)
def sort_link(context: RequestContext, page: Any, column: str, label: str) -> SafeString:
    """Show a column's header; a click sorts by it, a second one reverses the order."""
    query = context["request"].GET.copy()
    query.pop("seen", None)
    query["sort"] = f"-{column}" if page.sort == column and not page.backwards else column
    return format_html(
        '<a class="sort" id="sort-{}" href="?{}#amounts" hx-get="{}?{}" hx-target="#amounts"'
        ' hx-swap="outerHTML" hx-select="#amounts">{}</a>',
        column,
        query.urlencode(),
        context["request"].path,
        query.urlencode(),
        label.capitalize() if label.islower() else label,
    )


@register.simple_tag
def aria_sort(page: Any, column: str) -> SafeString:
    """Return the value of aria-sort of a column; numbers sort descending."""
    if page.sort != column or page.as_tree:
        return SafeString("")
    rising = page.backwards != (column == "name")
    return format_html(' aria-sort="{}"', "ascending" if rising else "descending")


def _data(value: float, resource: str, text: str) -> SafeString:
    return format_html(
        '<data value="{}" title="{}: {}">{}</data>', value, resource, exact(value, resource), text
    )
