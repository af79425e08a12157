"""Amounts of the scheduler in units for people.

>>> plain(1500, "cpu"), plain(1610612736, "memory"), plain(4000, "nvidia.com/gpu"), plain(12, "pods")
('1.5 cores', '1.5 GiB', '4 GPUs', '12 pods')
"""

import json
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any

from django import template
from django.utils import timezone
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from planning import units
from planning.change_descriptions import change_text, subject_text, value_text
from planning.nodes import pool_label
from planning.rows import Amounts
from planning.units import hours_label, resource_label, scale_of, written

register = template.Library()
register.filter(hours_label)
register.filter(resource_label)
register.filter(pool_label)
register.filter(written)

KINDS = {
    "nodes": ("node", "nodes"),
    "queues": ("queue", "queues"),
    "podgroups": ("PodGroup", "PodGroups"),
    "pods": ("pod", "pods"),
    "jobs": ("job", "jobs"),
    "priorityclasses": ("priority class", "priority classes"),
    "resourcequotas": ("resource quota", "resource quotas"),
    "namespaces": ("namespace", "namespaces"),
    "poddisruptionbudgets": ("pod disruption budget", "pod disruption budgets"),
}
"""Singular and plural of the lists of a scenario document."""
_FIRST = {"cpu": 0, "memory": 1, "pods": 3}


def plain(amount: float, resource: str) -> str:
    """Return an amount with its unit."""
    return scale_of(resource, amount).say(amount)


def exact(amount: float, resource: str) -> str:
    """Return the scheduler's exact number, as a Kubernetes quantity if possible.

    >>> exact(6000, "cpu"), exact(1610612736, "memory"), exact(12, "pods")
    ('6000m', '1610612736 bytes', '12 pods')
    """
    number = f"{amount:.12g}" if amount < 1e12 else f"{amount:.0f}"
    return number + {"memory": " bytes", "pods": " pods"}.get(resource, "m")


def resource_order(names: Iterable[str]) -> list[str]:
    """Return resource names in the order of every page: cpu, memory, the others by name, pods.

    >>> resource_order({"pods", "nvidia.com/gpu", "memory", "cpu"})
    ['cpu', 'memory', 'nvidia.com/gpu', 'pods']
    """
    return sorted(names, key=lambda name: (_FIRST.get(name, 2), name))


@register.simple_tag
def amount(amounts: Amounts, resource: str, absent: str = "–") -> str:
    """Show one amount of a row; the tooltip has the exact value."""
    return _value_text(amounts[resource], resource) if resource in amounts else soft(absent)


@register.simple_tag
def node_amount(node: Any, part: str, resource: str) -> str:
    """Say a part of a node's amounts: nothing of a resource is 0, a dash stands for one that it has not."""
    parts = [getattr(node, name) for name in ("idle", "releasing", "pipelined", "free")]
    has_any = any(resource in amounts for amounts in parts)
    return amount_of(getattr(node, part).get(resource, 0.0) if has_any else None, resource)


@register.simple_tag
def amount_of(value: float | None, resource: str) -> str:
    """Show an amount of a resource, a dash without one; the tooltip has the exact value."""
    return soft("–") if value is None else _value_text(value, resource)


@lru_cache(maxsize=64)
def soft(text: str) -> SafeString:
    """Return a text in a muted colour."""
    return format_html('<span class="soft">{}</span>', text)


@lru_cache(maxsize=8192, typed=True)
def _value_text(value: float | None, resource: str) -> str:
    if value is None:
        return soft("unlimited")
    return format_html(
        '<data value="{}" title="{}">{}</data>',
        value,
        f"{resource}: {exact(value, resource)}",
        plain(value, resource),
    )


@register.simple_tag
def used_of(used: Amounts, total: Amounts, resource: str) -> str:
    """Say how much of a total is used, in one unit; the tooltip holds both exact values.

    >>> used_of({"cpu": 1500.0}, {"cpu": 4000.0}, "cpu").partition(">")[2]
    '1.5 of 4 cores used</span>'
    """
    part, whole = used.get(resource) or 0.0, total[resource] or 0.0
    scale = scale_of(resource, whole)
    says = f"{written(scale.number(part))} of {scale.say(whole)} used"
    title = f"{resource}: {exact(part, resource)} of {exact(whole, resource)}"
    return format_html('<span title="{}">{}</span>', title, says)


@register.filter
def size(count: float) -> str:
    """Return the size of something that is stored, in the units of memory.

    >>> size(10_000_000_000), size(55_900)
    ('9.31 GiB', '54.59 KiB')
    """
    return plain(count, "memory")


@register.simple_tag
def promised(guarantee: Amounts, resource: str) -> str:
    """Show a guarantee; zero is none."""
    return amount(guarantee if guarantee.get(resource) else {}, resource, "none")


@register.simple_tag
def was(now: Amounts, before: Amounts | None, resource: str) -> str:
    """Show an amount of the previous run, if it was different."""
    value = (before or {}).get(resource)
    if value is None or value == now.get(resource):
        return ""
    return format_html('<small class="was">was {}</small>', _value_text(value, resource))


@register.filter
def percent(share: float | None) -> str:
    """Return a share as per cent."""
    return "–" if share is None else units.percent(share)


@register.simple_tag
def share(part: float | None) -> str:
    """Show a share in words, with its raw value as data."""
    return "–" if part is None else format_html('<data value="{}">{}</data>', part, percent(part))


@register.simple_tag
def ratio(value: float | None, digits: int = 2) -> str:
    """Show a number without a unit, with its raw value as data."""
    return (
        soft("–")
        if value is None
        else format_html('<data value="{}">{}</data>', value, f"{value:,.{digits}f}")
    )


@register.simple_tag
def number(count: int | None, word: str = "") -> str:
    """Show a number, with its noun if one is given (see `counted`), and its raw value as data."""
    if count is None:
        return soft("–")
    return format_html('<data value="{}">{}</data>', count, counted(count, word) if word else f"{count:,}")


@register.filter
def money(amount: float) -> str:
    """Return an amount of money with two decimals, more for small amounts.

    >>> money(1234.5), money(0.0123), money(0)
    ('1,234.50', '0.0123', '0.00')
    """
    return f"{amount:,.2f}" if abs(amount) >= 0.1 or not amount else f"{amount:.3g}"


@register.filter
def counted(number: int, word: str) -> str:
    """Return a number with its noun; two words give the plural, ``"queue,queues"``."""
    one, _, many = word.partition(",")
    return f"{number:,} {one if number == 1 else many or one + 's'}"


@register.filter
def lasted(milliseconds: float | timedelta | None) -> str:
    """Return a duration in milliseconds as text.

    >>> lasted(340), lasted(2500), lasted(200000)
    ('340 ms', '2.5 s', '3 min 20 s')
    """
    if milliseconds is None:
        return "–"
    if isinstance(milliseconds, timedelta):
        milliseconds = milliseconds.total_seconds() * 1000
    if milliseconds < 1000:
        return f"{milliseconds:.0f} ms"
    if milliseconds < 60_000:
        return f"{milliseconds / 1000:.1f} s"
    return f"{milliseconds // 60_000:.0f} min {milliseconds % 60_000 / 1000:.0f} s"


@register.filter
def item(mapping: Mapping[str, Any], key: str) -> Any:
    """Return the value of a key that a template knows only by name."""
    return mapping.get(key)


@register.filter
def named(thing: Any, attribute: str) -> Any:
    """Return an attribute that a template knows only by name."""
    return getattr(thing, attribute)


@register.filter
def in_order(amounts: Amounts) -> list[tuple[str, float | None]]:
    """Return the amounts in the order of every page."""
    return [(resource, amounts[resource]) for resource in resource_order(amounts)]


register.filter("value_text", value_text)
register.filter("subject_text", subject_text)
register.filter("change_text", change_text)


@register.filter
def as_json(value: Any) -> str:
    """Return a stored value as in a manifest; a dash for nothing."""
    return "–" if value in (None, "", {}) else json.dumps(value, ensure_ascii=False)


@register.simple_tag
def diff_lines(lines: Iterable[str]) -> str:
    """Return the lines of a diff, with classes for added and removed ones; no white space between them."""
    marked = (("--in" if line[:1] == "+" else "--out" if line[:1] == "-" else "", line) for line in lines)
    return format_html_join(
        "",
        '<span class="lines__line{}">{}</span>',
        ((f" lines__line{mark}" if mark else "", line) for mark, line in marked),
    )


@register.filter
def objects(counts: Mapping[str, int]) -> str:
    """Show how many objects of each kind there are.

    >>> objects({"nodes": 100, "priorityclasses": 1, "jobs": 0})
    '100 nodes, 1 priority class'
    """
    names = {kind: KINDS.get(kind, (kind, kind)) for kind in counts}
    return ", ".join(counted(number, ",".join(names[kind])) for kind, number in counts.items() if number)


@register.simple_tag
def work(seconds: float, unknown: int = 0) -> str:
    """Show lost work in pod-seconds or pod-hours; the tooltip has the exact value.

    `unknown` is the number of evictions whose run time is unknown and left out.
    """
    text = f"{written(seconds / 3600)} pod-hours" if seconds >= 3600 else f"{written(seconds)} pod-seconds"
    shown = format_html('<data value="{}" title="{} pod-seconds">{}</data>', seconds, f"{seconds:.12g}", text)
    if not unknown:
        return shown
    return format_html(
        "at least {} <small>run time of {} unknown</small>", shown, number(unknown, "eviction")
    )


@register.simple_tag
def took(run: Any) -> str:
    """Show the run time of a finished run, with its raw value in seconds as data."""
    if not (run.started and run.finished):
        return "–"
    time = run.finished - run.started
    return format_html('<data value="{}">{}</data>', time.total_seconds(), lasted(time))


@register.filter
def ago(moment: datetime) -> str:
    """Show how long ago something was, in one unit."""
    seconds = (timezone.now() - moment).total_seconds()
    for size, unit in ((86_400, "day"), (3600, "hour"), (60, "minute")):
        if seconds >= size:
            return f"{counted(int(seconds // size), unit)} ago"
    return "just now"


@register.filter
def kind_label(kind: str) -> str:
    """Return the name of a list of a scenario document as a heading."""
    name = KINDS.get(kind, (kind, kind))[1]
    return name[:1].upper() + name[1:]
