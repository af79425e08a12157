"""The cells and headers of the queue table."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from django import template
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from planner.web.templatetags.quantities import amount, counted, percent

register = template.Library()


@register.simple_tag
def queue_cells(tree: Any, line: Any) -> SafeString:
    """Return the cells after a queue's name, with the snapshot's value if it differs."""
    return format_html_join("", "{}", ((_cell(tree, line, column),) for column in tree.columns))


@register.simple_tag
def cell_text(tree: Any, line: Any, column: Any) -> SafeString:
    """Return the text of a cell, with the snapshot's value if it differs."""
    value = column.value(line, tree.resource)
    words = _value_text(tree, column, value)
    changed, was = tree.was(line, column)
    if not changed:
        return words
    text = column.text(was, tree.scale)
    return format_html(
        '<small class="tree__was" title="in the snapshot: {}">{} → </small>{}', text, text, words
    )


@register.simple_tag
def shown_link(scenario: Any, tree: Any, **changed: str) -> SafeString:
    """Return the attributes of a link to another view of the table."""
    page = reverse("planner:scenario-detail", args=[scenario.pk])
    address = f"{page}?{tree.shown.query(**changed)}"
    return format_html(
        'href="{}#queues" hx-get="{}" hx-target="#queues" hx-swap="outerHTML" hx-push-url="true"',
        address,
        address,
    )


@register.simple_tag
def sorted_by(tree: Any, name: str) -> SafeString:
    """Return the value of aria-sort of a column."""
    if tree.shown.column != name:
        return SafeString("")
    way = "descending" if tree.shown.sort.startswith("-") else "ascending"
    return format_html(' aria-sort="{}"', way)


@register.simple_tag
def next_sort(tree: Any, name: str) -> str:
    """Return the order that a click on a column's header selects: numbers descending first, then reversed."""
    first, second = (name, f"-{name}") if name == "name" else (f"-{name}", name)
    return second if tree.shown.sort == first else first


@register.simple_tag
def object_cell(table: Any, row: Any, column: Any) -> SafeString:
    """Return a cell of the table of nodes or workloads, with the snapshot's value if it differs."""
    css = SafeString(' class="grid__number"') if column.kind == "number" else ""
    earlier = table.was(row, column)
    if earlier is None:
        return format_html("<td{}>{}</td>", css, column.text(row))
    text = column.text(earlier)
    return format_html(
        '<td{}><small class="tree__was" title="in the snapshot">{} → </small>{}</td>',
        css,
        text,
        column.text(row),
    )


@register.simple_tag
def pool_figure(before: Any, pool: Any, name: str) -> SafeString:
    """Return a count of a node pool, with the snapshot's count if it differs."""
    now = getattr(pool, name)
    earlier = before.get(pool.pool)
    was = getattr(earlier, name) if earlier else 0
    if not before or was == now:
        return format_html('<data value="{}">{}</data>', now, f"{now:,}")
    return format_html(
        '<small class="tree__was" title="in the snapshot">{} → </small><data value="{}">{}</data>',
        f"{was:,}",
        now,
        f"{now:,}",
    )


@register.simple_tag
def slider(editor: Any, column: Any) -> Any:
    """Return the slider beside the field of a column in an open line."""
    return editor.slider(column)


@register.simple_tag
def reach_value(answer: Mapping[str, Any], value: float | None) -> str:
    """Return a value of the figure that the search is about, with its unit."""
    if answer["figure"] == "share":
        return percent(value)
    if answer["figure"] == "placed":
        return "–" if value is None else counted(int(value), "pod")
    return amount({answer["resource"]: value}, answer["resource"])


@register.filter
def field_in(column: Any, resource: str) -> str:
    """Return the name of a column's field for a resource."""
    place: str = column.place(resource)
    return place


def _cell(tree: Any, line: Any, column: Any) -> SafeString:
    css = "grid__number" if column.name != "reclaimable" else ""
    css += " tree__answer" if column.answer else " tree__pair" if column.is_amount else ""
    place = column.place(tree.resource)
    attribute = (
        format_html('data-field="{}"', place) if place else format_html('data-answer="{}"', column.answer)
    )
    return format_html(
        '<td class="{}" data-column="{}" {}>{}</td>',
        css,
        column.name,
        attribute,
        _asking(tree, line, column, cell_text(tree, line, column)),
    )


def _asking(tree: Any, line: Any, column: Any, text: SafeString) -> SafeString:
    """Return a figure as a link to the search for changes with which it reaches an amount."""
    if not column.figure or not tree.reach or column.value(line, tree.resource) is None:
        return text
    query = {"figure": column.figure, "queue": line.row.name, "resource": tree.resource}
    address = f"{tree.reach}?{urlencode(query)}"
    return format_html(
        '<a class="tree__reach" href="{}" hx-get="{}" hx-target="closest tbody" hx-swap="afterend"'
        ' title="What makes {} of {} reach an amount?">{}</a>',
        address, address, column.figure, line.row.name, text,
    )  # fmt: skip


def _value_text(tree: Any, column: Any, value: Any) -> SafeString:
    text = column.text(value, tree.scale)
    if value is None:
        return format_html('<data class="soft">{}</data>', text)
    return format_html(
        '<data value="{}" title="{}">{}</data>', value, column.exact(value, tree.resource), text
    )
