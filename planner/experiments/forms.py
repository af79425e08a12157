"""The forms that start an experiment: a document, or one or two settings with their values."""

import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import yaml
from django import forms

from planner.errors import Invalid
from planner.web.forms import LongSelect, ReadField, TypedForm
from planning.experiments.definition import experiment_read
from planning.queues import count_or_text
from planning.rows import Problem
from planning.units import resource_label

Texts = Mapping[str, str]
PLACES = ("first", "second")
PARTS = ("setting", "values")
Choices = Sequence[tuple[str, str]]
CYCLES = 3
"""The cycles of the short form, enough for evicted pods to terminate and others to be bound."""
QUEUE_FIELDS = ("weight", "priority")
GOALS = {"waiting_pods": "Goal: waiting pods, at most", "evictions": "Goal: evictions, at most"}
AMOUNT_FIELDS = ("deserved", "capability", "guarantee")


def setting_choices(nodes: Iterable[str], resources: Sequence[str], unread: Collection[str] = ()) -> Choices:
    """Return the settings that the short form offers, as the JSON of a document, with their names.

    Those of a queue are without its name. Fields that the configuration does not read are left out.
    """
    found: list[tuple[Mapping[str, Any], str]] = [
        ({"field": field}, field) for field in QUEUE_FIELDS if field not in unread
    ]
    found += [
        ({"field": field, "resource": resource}, f"{field}, {resource_label(resource)}")
        for field in AMOUNT_FIELDS
        if field not in unread
        for resource in resources
    ]
    found += [({"like": node}, f"further nodes like {node}") for node in nodes]
    return [(json.dumps(setting), message) for setting, message in found]


class ExperimentForm(TypedForm):
    """One or two settings with the values to try, and the goals."""

    name = forms.CharField(label="Name of the experiment", max_length=253, required=False)

    def __init__(
        self,
        queues: Sequence[str],
        choices: Choices,
        data: Texts | None = None,
        example: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(data)
        self._add_setting("first", "Setting", queues, choices, "1, 2, 4, 8")
        self._add_setting("second", "Second setting", queues, [("", "none"), *choices], "none")
        for figure, label in GOALS.items():
            goal = ReadField(_count, "{text!r} is not a count. Write a whole number.", label=label)
            goal.widget.attrs |= {"placeholder": "no goal", "inputmode": "numeric"}
            self.add_field(f"goal.{figure}", goal)
        if example is not None:
            setting = {name: value for name, value in example.items() if name not in ("queue", "values")}
            self.fields["first.setting"].initial = json.dumps(setting)
            for place in PLACES:
                self.fields[f"{place}.queue"].initial = example["queue"]
            self.fields["first.values"].widget.attrs["placeholder"] = ", ".join(map(str, example["values"]))

    def _add_setting(
        self, place: str, label: str, queues: Sequence[str], choices: Choices, like: str
    ) -> None:
        values = forms.CharField(label=f"Values of the {label.lower()}", required=False)
        values.widget.attrs |= {"placeholder": like, "spellcheck": "false"}
        self.add_field(f"{place}.setting", _chosen(label, choices, "There is no such setting"))
        queue = _chosen(
            f"Queue of the {label.lower()}", [(name, name) for name in queues], "There is no such queue"
        )
        queue.help_text = "Added nodes need none."
        self.add_field(f"{place}.queue", queue)
        self.add_field(f"{place}.values", values)

    def clean(self) -> dict[str, Any]:
        """A setting needs values, and one of a queue the queue."""
        for place in PLACES:
            chosen = self.cleaned_data.get(f"{place}.setting")
            values = self.cleaned_data.get(f"{place}.values")
            if chosen and values is not None and not _parts(values):
                message = "A setting has no values. Write the values to try, separated by commas."
                self.add_error(f"{place}.values", message)
            if chosen and self.cleaned_data.get(f"{place}.queue") == "" and "field" in json.loads(chosen):
                self.add_error(f"{place}.queue", "A setting has no queue. Choose one of the list.")
        return self.cleaned_data

    def written(self, scenario: str) -> dict[str, Any]:
        """Return the experiment as a document; raise Invalid."""
        return self._written(self.typed(), scenario)

    def readable(self, scenario: str) -> dict[str, Any]:
        """Return the document of a form with errors, without what has them, so that the rest is checked."""
        return self._written({**dict.fromkeys(self.fields), **self.cleaned_data}, scenario)

    def refuse(self, problems: Iterable[Problem]) -> None:
        """Show problems of a setting's values at the field in which they were entered."""
        super().refuse([replace(one, path=self._entered_at(one.path or "")) for one in problems])

    def _entered_at(self, path: str) -> str:
        found = re.match(r"settings\[(\d+)\]\.(values|queue)?", path)
        return f"{self._places()[int(found[1])]}.{found[2] or 'setting'}" if found else path

    def _places(self) -> list[str]:
        """Return the settings with values, in the order of the document."""
        typed = self.cleaned_data
        return [
            place
            for place in PLACES
            if all(typed.get(f"{place}.{part}") for part in PARTS) and f"{place}.queue" in typed
        ]

    def _written(self, typed: Mapping[str, Any], scenario: str) -> dict[str, Any]:
        settings = []
        for place in self._places():
            setting = json.loads(typed[f"{place}.setting"])
            if "field" in setting:
                setting = {"queue": typed[f"{place}.queue"], **setting}
            values = [_value(value, setting) for value in _parts(typed[f"{place}.values"])]
            settings.append({**setting, "values": values})
        most = {figure: typed[f"goal.{figure}"] for figure in GOALS}
        goals = [
            {"figure": figure, "at_most": count} for figure, count in most.items() if isinstance(count, int)
        ]
        return {
            "name": typed["name"] or "experiment",
            "scenario": scenario,
            "settings": settings,
            "figures": [
                {"figure": "waiting_pods", "better": "less"},
                {"figure": "waiting_jobs", "better": "less"},
                {"figure": "evictions", "better": "less"},
            ],
            "run": {"cycles": CYCLES},
            **({"goals": goals} if goals else {}),
        }


def _chosen(label: str, choices: Choices, refused: str) -> forms.ChoiceField:
    messages = {"invalid_choice": f"{refused}. Choose one of the list."}
    return forms.ChoiceField(
        label=label, choices=choices, required=False, error_messages=messages, widget=LongSelect
    )


def _parts(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _count(text: str) -> int | None:
    return int(text) if text.isdecimal() and len(text) < 9 else None


class DocumentForm(TypedForm):
    """An experiment as a document."""

    document = forms.CharField(
        label="Experiment, as YAML or JSON", strip=False, required=False, widget=forms.Textarea
    )
    document.widget.attrs |= {"class": "code experiment__text", "rows": "16", "spellcheck": "false"}

    def written(self, scenario: str) -> dict[str, Any]:
        """Return the experiment; raise Invalid with every problem and its line."""
        written, problems = experiment_read(self.typed()["document"])
        if problems:
            raise Invalid(problems)
        return written


def in_text(written: Mapping[str, Any]) -> str:
    """Return an experiment as text to edit."""
    text: str = yaml.safe_dump(written, sort_keys=False, default_flow_style=None, width=110)
    return text


def example(scenario: str, setting: Mapping[str, Any], node: str) -> str:
    """Return a document that works for a scenario without changes."""
    queue = setting["queue"]
    settings: list[Mapping[str, Any]] = [{**setting, "price": 1}]
    if node:
        settings.append({"like": node, "range": {"from": 1, "to": 4, "step": 1}, "price": 5})
    written = {
        "name": f"{setting['field']} of {queue} or further nodes",
        "scenario": scenario,
        "settings": settings,
        "figures": [
            {"figure": "waiting_pods", "queue": queue, "better": "less"},
            {"figure": "evictions", "better": "less"},
        ],
        "run": {"cycles": CYCLES},
    }
    return in_text(written)


def _value(text: str, setting: Mapping[str, Any]) -> Any:
    """Return a value for a document: a number, or a quantity for amounts."""
    if "resource" in setting:
        return text
    return count_or_text(text)
