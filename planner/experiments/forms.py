"""What do people type to begin an experiment: a document, or one or two settings with their values?"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import yaml

from planning.experiments.written import experiment_read
from planning.rows import Problem
from planning.units import resource_label

Texts = Mapping[str, str]
PLACES = ("first", "second")
CYCLES = 3
"""How long the short form simulates: by then evicted pods are gone, and others are bound."""
QUEUE_FIELDS = ("weight", "priority")
AMOUNT_FIELDS = ("deserved", "capability", "guarantee")


def setting_choices(
    queues: Sequence[str], nodes: Sequence[str], resources: Sequence[str]
) -> list[tuple[str, str]]:
    """Return the settings that the short form offers, each as the JSON of a document with its name."""
    found: list[tuple[Mapping[str, Any], str]] = []
    for queue in queues:
        found += [({"queue": queue, "field": field}, f"{queue}: {field}") for field in QUEUE_FIELDS]
        found += [
            (
                {"queue": queue, "field": field, "resource": resource},
                f"{queue}: {field}, {resource_label(resource)}",
            )
            for field in AMOUNT_FIELDS
            for resource in resources
        ]
    found += [({"like": node}, f"further nodes like {node}") for node in nodes]
    return [(json.dumps(setting), message) for setting, message in found]


def short_written(typed: Texts, scenario: str) -> tuple[dict[str, Any], list[Problem]]:
    """Return the experiment that the short form describes, and what cannot be read."""
    settings, problems = [], []
    for place in PLACES:
        if not typed.get(f"{place}.setting"):
            continue
        values = [part.strip() for part in typed.get(f"{place}.values", "").split(",") if part.strip()]
        if not values:
            message = "Write the values to try, separated by commas."
            problems.append(_problem(f"{place}.values", "A setting has no values.", message))
        try:
            setting = json.loads(typed[f"{place}.setting"])
        except ValueError:
            problems.append(_problem(f"{place}.setting", "The setting is none.", "Choose one of the list."))
            continue
        settings.append({**setting, "values": [_value(value, setting) for value in values]})
    written: dict[str, Any] = {
        "name": typed.get("name", "").strip() or "experiment",
        "scenario": scenario,
        "settings": settings,
        "figures": [
            {"figure": "waiting_pods", "better": "less"},
            {"figure": "waiting_jobs", "better": "less"},
            {"figure": "evictions", "better": "less"},
        ],
        "run": {"cycles": CYCLES},
    }
    goals = []
    for name in ("waiting_pods", "evictions"):
        text = typed.get(f"goal.{name}", "").strip()
        if text and not text.isdecimal():
            problems.append(_problem(f"goal.{name}", f"{text!r} is not a count.", "Write a whole number."))
        elif text:
            goals.append({"figure": name, "at_most": int(text)})
    if goals:
        written["goals"] = goals
    return written, problems


def document_written(text: str) -> tuple[dict[str, Any], list[Problem]]:
    """Return the experiment of a document in YAML or JSON, and every problem with its line."""
    return experiment_read(text)


def example(scenario: str, queue: str, node: str) -> str:
    """Return a document that can be tried on a scenario as it is."""
    settings: list[dict[str, Any]] = [{"queue": queue, "field": "weight", "values": [1, 2, 4, 8], "price": 1}]
    if node:
        settings.append({"like": node, "range": {"from": 1, "to": 4, "step": 1}, "price": 5})
    written = {
        "name": f"weight of {queue} or further nodes",
        "scenario": scenario,
        "settings": settings,
        "figures": [
            {"figure": "waiting_pods", "queue": queue, "better": "less"},
            {"figure": "evictions", "better": "less"},
        ],
        "run": {"cycles": CYCLES},
    }
    text: str = yaml.safe_dump(written, sort_keys=False, default_flow_style=None, width=110)
    return text


def _value(text: str, setting: Mapping[str, Any]) -> Any:
    """Return a value as a document has it: a number, but amounts as quantities."""
    if "resource" in setting:
        return text
    return int(text) if text.isdecimal() else text


def _problem(path: str, message: str, fix: str) -> Problem:
    return Problem("experiment.form", "error", message, path=path, fix=fix)
