"""The form rows of timed changes."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from django import forms

from planner.web.forms import TypedForm
from planning.forecasts.typed_changes import CONF, HAPPENS, TypedChange, change_of
from planning.rows import Problem

Texts = Mapping[str, str]

MOST_CHANGES = 100
LABELS = {
    "at": "When change {} happens",
    "every": "How often change {} repeats",
    "happens": "What change {} is",
    "subject": "What change {} happens to",
    "value": "Fields or count of change {}",
    "conf": "volcano-scheduler.conf from change {} on",
}
"""The fields of a row, with their names for screen readers."""
_TYPED_IN = {
    "at": "at",
    "every": "every",
    "happens": "happens",
    "queue": "subject",
    "pool": "subject",
    "nodes": "subject",
    "subject": "subject",
    "scheduler_conf": "conf",
}
"""The field of the parts of a change that are not its value."""


_TITLES = {
    "at": "At",
    "every": "Every",
    "happens": "What happens",
    "subject": "Target",
    "value": "Fields or count",
    "conf": "volcano-scheduler.conf",
}
"""The fields of a row by the titles of their columns."""
_PART = re.compile(r"changes\[(\d+)\](?:\.(\w+))?")


def _field_of(part: str) -> str:
    """Return the field of a part of a change; its new value or count is in the last field."""
    return _TYPED_IN.get(part, "value")


def in_form(problem: Problem) -> Problem:
    """Return a problem whose path names the number of the change and the column of the form.

    >>> in_form(Problem("forecast.change", "error", "no such queue", path="changes[1].queue")).path
    'change 2, Target'
    """
    found = _PART.match(problem.path or "")
    if found is None:
        return problem
    title = f", {_TITLES[_field_of(found[2])]}" if found[2] else ""
    return replace(problem, path=f"change {int(found[1]) + 1}{title}")


class ChangeForm(TypedForm):
    """One timed change: when, what, and to which queue, pool or nodes; or a scheduler configuration."""

    at = forms.CharField(required=False)
    at.widget.attrs["placeholder"] = "Tuesday 18:00"
    every = forms.CharField(required=False)
    every.widget.attrs["placeholder"] = "once, or 1d"
    happens = forms.CharField(required=False, widget=forms.Select(choices=[*HAPPENS.items()]))
    subject = forms.CharField(required=False)
    subject.widget.attrs |= {"placeholder": "queue, pool or nodes", "list": "change-subjects"}
    value = forms.CharField(required=False)
    value.widget.attrs["placeholder"] = "weight=5, or 3"
    conf = forms.CharField(required=False, strip=False, widget=forms.Textarea(attrs={"rows": 14}))

    def __init__(self, place: int, data: Texts | None = None, conf_text: str = "") -> None:
        super().__init__(data, prefix=f"change-{place}", auto_id="%s", initial={"conf": conf_text})
        self.place = place
        for name, label in LABELS.items():
            attributes = self.fields[name].widget.attrs
            attributes |= {"aria-label": label.format(place + 1), "spellcheck": "false"}
            attributes["class"] += f" {attributes['class']}-sm"

    @property
    def cells(self) -> list[forms.BoundField]:
        """Return the fields that have a column."""
        return [field for field in self if field.name != "conf"]

    def change(self) -> tuple[dict[str, Any], list[Problem]]:
        """Return the change, and the problems of what cannot be read."""
        self.full_clean()
        texts = {name: self.cleaned_data.get(name, "").replace("\r\n", "\n") for name in LABELS}
        return change_of(TypedChange(**texts), self.place)

    def refuse(self, problems: Iterable[Problem]) -> None:
        """Show problems at the field of their part of the change."""
        for problem in problems:
            found = _PART.match(problem.path or "")
            self.add_error(_field_of(found[2] if found and found[2] else ""), problem.in_full)


def changes_typed(typed: Texts) -> list[ChangeForm]:
    """Return the rows that are not empty, renumbered without the removed one."""
    rows: list[ChangeForm] = []
    for number in range(MOST_CHANGES):
        texts = {name: typed.get(f"change-{number}-{name}", "") for name in LABELS}
        is_empty = texts["happens"] != CONF and not any(
            text.strip() for name, text in texts.items() if name not in ("happens", "conf")
        )
        if not is_empty and typed.get("remove") != str(number):
            place = len(rows)
            rows.append(ChangeForm(place, {f"change-{place}-{name}": text for name, text in texts.items()}))
    return rows
