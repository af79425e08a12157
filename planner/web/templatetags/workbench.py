"""The cells and headers of the queue table."""

from collections.abc import Mapping
from math import isinf
from typing import Any
from urllib.parse import urlencode

from django import template
from django.template import Context
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from planner.web.templatetags.quantities import amount, counted, percent

register = template.Library()


@register.simple_tag(takes_context=True)
def queue_line(context: Context, line: Any) -> SafeString:
    """Return the closed line of a queue; there are hundreds, so that every attribute counts."""
    tree, name = context["tree"], line.row.name
    may_edit = context["scenario"].role != "viewer"
    is_parent = line.row.children and not tree.shown.sort
    return format_html(
        '<tbody id="queue-{name}" data-queue="{name}" data-parent="{parent}">'
        '<tr class="tree__line" aria-level="{level}"{expanded} tabindex="-1">'
        '<th scope="row" class="tree__name"{draggable}>'
        '<span class="tree__indent">{select}{fold}{name}{tags}</span></th>{cells}'
        '<td class="tree__do">{buttons}</td></tr></tbody>',
        name=name,
        parent=line.row.parent,
        level=line.level,
        expanded=SafeString(' aria-expanded="true"' if is_parent else ""),
        draggable=SafeString(' draggable="true"' if may_edit else ""),
        select=_select(name, context.get("batch")) if may_edit else "",
        fold=format_html(_FOLD, name) if is_parent else "",
        tags=_tags(tree, line),
        cells=format_html_join("", "{}", ((_cell(tree, line, column),) for column in tree.columns)),
        buttons=format_html(_BUTTONS, line.edit, name=name) if may_edit else "",
    )


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


_FOLD = (
    '<button class="tree__fold" type="button" data-fold tabindex="-1"'
    ' aria-label="Collapse or expand {}"></button>'
)
_BUTTONS = (
    '<a class="btn btn-quiet btn-sm" href="{0}#queue-{name}" data-edit aria-label="Edit {name}">Edit</a>'
    '<button class="btn btn-quiet btn-sm" type="button" data-menu tabindex="-1" aria-haspopup="menu"'
    ' aria-label="More actions for {name}">⋯</button>'
)
_NO_JOBS = SafeString(
    ' <span class="tag" title="Without a PodGroup the queue is not in the session. Its real capability is'
    ' what it could use.">no jobs</span>'
)


def _select(name: str, batch: Any) -> SafeString:
    """Return the box that selects a queue for the form of several queues."""
    checked = SafeString(" checked" if batch and name in batch["selected"] else "")
    return format_html(
        '<input class="form-check-input tree__select" type="checkbox" name="selected" value="{name}"'
        ' form="batch" aria-label="Select {name}"{checked}>',
        name=name,
        checked=checked,
    )


def _tags(tree: Any, line: Any) -> SafeString:
    """Return the state of a queue that is not open, and whether it is outside the session."""
    state = line.row.state
    closed = format_html(' <span class="tag tag--warn">{}</span>', state) if state not in ("", "Open") else ""
    is_out = tree.preview.plugin and not line.answer.in_session
    return format_html("{}{}", closed, _NO_JOBS if is_out else "")


def _cell(tree: Any, line: Any, column: Any) -> SafeString:
    place = column.place(tree.resource)
    css = SafeString(' class="tree__pair"') if place and column.is_amount else ""
    kind, name = ("field", place) if place else ("answer", column.answer)
    text = _asking(tree, line, column, cell_text(tree, line, column))
    return format_html('<td{} data-{}="{}">{}</td>', css, kind, name, text)


def _asking(tree: Any, line: Any, column: Any, text: SafeString) -> SafeString:
    """Return a figure as a link to the search for changes with which it reaches an amount."""
    if not column.figure or not tree.reach or column.value(line, tree.resource) is None:
        return text
    query = {"figure": column.figure, "queue": line.row.name, "resource": tree.resource}
    return format_html('<a class="tree__reach" href="{}?{}">{}</a>', tree.reach, urlencode(query), text)


def _value_text(tree: Any, column: Any, value: Any) -> SafeString:
    text = column.text(value, tree.scale)
    if value is None:
        return format_html('<data class="soft">{}</data>', text)
    if column.is_amount and isinf(value):
        return format_html('<data value="{}" class="soft">{}</data>', value, text)
    exact = column.exact(value, tree.resource)
    title = format_html(' title="{}"', exact) if exact else ""
    return format_html('<data value="{}"{}>{}</data>', value, title, text)
