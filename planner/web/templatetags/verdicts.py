"""The words of a verdict on pages, and the links of its sentences."""

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

from planner.web.templatetags.quantities import counted
from planning.units import written

register = template.Library()

_LEVELS = {"bad": "problem", "warn": "check", "info": "info", "good": "ok"}
_PLACES = {"queues": "amounts", "flow": "victims", "loops": "loop-title"}


@register.filter
def level_word(level: str) -> str:
    """Return the word for the severity of a sentence, so that colour is not the only sign of it."""
    return _LEVELS[level]


@register.filter
def anchor_of(place: str) -> str:
    """Return the anchor on a run's page that a sentence links to."""
    return _PLACES.get(place, place)


@register.simple_tag
def change(by: float, before: float, unit: str) -> SafeString:
    """Show by how much a figure differs from the baseline's."""
    text = "±0" if not by else f"{'+' if by > 0 else '−'}{written(abs(by))}"
    where = f"{written(before)} %" if unit == "%" else counted(int(before), unit)
    return format_html('<data value="{}">{}</data>, was <data value="{}">{}</data>', by, text, before, where)
