"""How are the numbers behind a reason said, each with its unit?

>>> said("ready", 4), said("share", 0.25), said("cooldown_seconds_left", 12)
('4 pods', '25 %', '12 s')
"""

from collections.abc import Mapping
from typing import Any

from django import template

from planner.templatetags.quantities import counted, percent, plain, resource_label, resource_order, written

register = template.Library()

LABELS = {
    "ready": "members that run or are about to",
    "minAvailable": "members needed at least",
    "priority": "its priority",
    "share": "share of its job without it",
    "preemptor": "the same of whom it is for",
    "share_per_weight": "share per weight without this pod",
    "victim": "the same of the victim",
    "left": "left of the queue",
    "allocated": "the queue holds",
    "deserved": "the queue deserves",
    "cooldown_seconds_left": "cool-down left",
    "disruptionsAllowed": "disruptions allowed",
    "at_once": "may be lost at once",
}
_PODS = ("ready", "minAvailable", "disruptionsAllowed", "at_once")
_SHARES = ("share", "preemptor", "share_per_weight", "victim")


@register.filter
def numbers(told: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return the numbers of a reason as label and text.

    >>> numbers({"queue": "a", "resource": "cpu", "allocated": 6000, "deserved": 4000})
    [('the queue holds', '6 cores'), ('the queue deserves', '4 cores')]
    """
    resource = told.get("resource")
    inside = told.get("priority") is not None
    return [
        (LABELS.get(name, name), said("priority" if inside else name, value, resource))
        for name, value in told.items()
        if name not in ("queue", "resource")
    ]


def said(name: str, value: Any, resource: str | None = None) -> str:
    """Return one number with its unit: `resource` says what an amount is of."""
    if isinstance(value, Mapping):
        held = ", ".join(amount_said(value[key], key) for key in resource_order(value))
        return held or "nothing"
    if not isinstance(value, (int, float)):
        return str(value)
    if resource is not None:
        return plain(value, resource)
    if name in _PODS:
        return counted(int(value), "pod")
    if name in _SHARES:
        return percent(value)
    return f"{value:g} s" if name == "cooldown_seconds_left" else written(value)


def amount_said(value: float | None, resource: str) -> str:
    """Return an amount with its unit, and with its resource where the unit leaves that open.

    >>> amount_said(None, "cpu"), amount_said(2**30, "memory")
    ('CPU unlimited', '1 GiB')
    """
    return f"{resource_label(resource)} unlimited" if value is None else plain(value, resource)
