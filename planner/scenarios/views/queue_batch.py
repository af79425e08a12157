"""Edits of several queues at once, and the preview of edits while they are entered."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.http import require_POST

from planner.errors import Invalid, StaleRevision
from planner.scenarios.forms.queues import (
    Texts,
    posted_resources,
    queue_fields,
    typed_queue,
)
from planner.scenarios.models import Queue, Scenario
from planner.scenarios.selectors.preview import edited_preview
from planner.scenarios.services.queues import queues_update
from planner.scenarios.views.editing import STALE, changed_since, seen_revision
from planner.scenarios.views.queue_columns import COLUMNS
from planner.scenarios.views.queue_tree import shown_of, tree_of
from planner.scenarios.views.queues import edit_refused, queues_changed
from planner.web.templatetags.quantities import counted
from planner.web.views.found import scenario_or_404
from planner.web.views.pages import INVALID, caller
from planning.arithmetic import is_arithmetic
from planning.pasted import Pasted, pasted
from planning.queue_edits import Batch
from planning.queues import queue_spec
from planning.rows import Problem
from planning.units import scale_of

_UNSET = ("-", "–", "—")
_NOTHING = Problem(
    "edit.nothing",
    "error",
    "Nothing to apply.",
    path="queues",
    fix="Select queues and write a value (- unsets the field), or paste rows of a spreadsheet.",
)


@dataclass
class Entered:
    """Edits as entered: texts by queue and field; the page uses the queue's saved name."""

    texts: dict[str, Texts] = field(default_factory=dict)
    block: Pasted = field(default_factory=Pasted)

    def patches(self, stored: Mapping[str, Queue]) -> dict[str, dict[str, Any]]:
        """Return the merge patch of each queue; an open line without a queue is a new queue."""
        found = {}
        for name, texts in self.texts.items():
            typed, patch = typed_queue(texts, queue_spec(stored[name]) if name in stored else {})
            if name in stored or typed["name"]:
                found[name if name in stored else typed["name"]] = patch
        return found

    def placed(self, problems: Sequence[Problem]) -> list[Problem]:
        """Return problems with the row and column of the pasted block."""
        places = [(problem, self.block.place(problem.path or "")) for problem in problems]
        return [
            replace(problem, message=f"{place}: {problem.message}") if place else problem
            for problem, place in places
        ]


@require_POST
def apply(request: HttpRequest, scenario_id: UUID) -> HttpResponse:
    """Set one field of the selected queues, or apply a pasted block, in one revision."""
    scenario = scenario_or_404(request, scenario_id)
    stored = {row.name: row for row in scenario.queues.all()}
    entered = _entered(request, list(stored))
    expected = seen_revision(request)
    typed = {"batch": {**request.POST.dict(), "selected": request.POST.getlist("selected")}}
    if problems := entered.block.problems or ([] if entered.texts else [_NOTHING]):
        return edit_refused(request, scenario, {"refused": problems, **typed}, INVALID)
    try:
        patches = entered.patches(stored)
        saved = queues_update(
            scenario=scenario,
            patches=patches,
            expected_revision=expected,
            user=caller(request),
        )
    except Invalid as error:
        context = {"refused": entered.placed(error.problems), **typed}
        return edit_refused(request, scenario, context, INVALID)
    except StaleRevision as error:
        return edit_refused(request, scenario, {"stale": changed_since(scenario, error), **typed}, STALE)
    pairs = zip(patches, saved, strict=True)
    changed = sum(queue_spec(stored[name]) != queue_spec(row) for name, row in pairs)
    return queues_changed(request, scenario, saved[0].name, f"{counted(changed, 'queue')} changed", expected)


@require_POST
def preview(request: HttpRequest, scenario_id: UUID) -> JsonResponse:
    """Return every figure of the table with the entered edits; nothing is saved.

    ``cells`` has a text for each queue and column, in the unit of the page's table, which follows from
    ``largest``; ``computed`` the results of arithmetic; ``problems`` the edits that would be rejected and
    were left out.
    """
    scenario = scenario_or_404(request, scenario_id)
    stored = {row.name: row for row in scenario.queues.all()}
    entered = _entered(request, list(stored))
    for name, texts in _open_lines(request).items():
        entered.texts[name] = texts
    patches = entered.patches(stored)
    batch, figures = edited_preview(scenario, patches)
    problems = [*entered.block.problems, *entered.placed(batch.problems)]
    return JsonResponse(
        {
            "cells": _cells(request, scenario, batch, figures),
            "computed": _computed(entered, batch),
            "problems": [_problem(problem) for problem in problems],
            "edited": len([name for name, (before, after) in batch.edited.items() if before != after]),
        }
    )


def _entered(request: HttpRequest, known: Sequence[str]) -> Entered:
    """Return the edits of the form of several queues: a pasted block, else one field of selected ones."""
    post = request.POST
    value, place = post.get("value", "").strip(), post.get("field", "")
    if block := post.get("paste", "").strip("\r\n"):
        read = pasted(block, resource=post.get("resource") or "cpu", known=known)
        return Entered(dict(read.texts), read)
    if not value or not place:
        return Entered()
    text = "" if value in _UNSET else value
    return Entered({name: {place: text} for name in post.getlist("selected") if name in known})


def _open_lines(request: HttpRequest) -> dict[str, Texts]:
    """Return the fields of the open lines, as the page sends them."""
    try:
        lines = json.loads(request.POST.get("lines") or "{}")
    except (ValueError, RecursionError):
        return {}
    if not isinstance(lines, dict):
        return {}
    return {
        str(name): {str(place): str(text) for place, text in texts.items()}
        for name, texts in lines.items()
        if isinstance(texts, dict)
    }


def _cells(request: HttpRequest, scenario: Scenario, batch: Batch, figures: Any) -> dict[str, Any]:
    shown = replace(shown_of(request), sort="")
    tree = tree_of(scenario, batch.queues, figures, shown)
    scale = scale_of(tree.resource, _number(request.POST.get("largest")) or tree.largest)
    formerly = {after["name"]: name for name, (_, after) in batch.edited.items()}
    return {
        "columns": [column.name for column in COLUMNS],
        "queues": {
            formerly.get(line.row.name, line.row.name): [
                column.text(column.value(line, tree.resource), scale) for column in COLUMNS
            ]
            for line in tree.lines
        },
    }


def _computed(entered: Entered, batch: Batch) -> dict[str, dict[str, str]]:
    """Return the results of arithmetic in each queue's fields."""
    found: dict[str, dict[str, str]] = {}
    for name, texts in entered.texts.items():
        places = [place for place, text in texts.items() if is_arithmetic(text)]
        edited = batch.edited.get(name or texts.get("name", ""))
        if places and edited:
            after = queue_fields(edited[1], posted_resources(texts))
            found[name] = {place: after.get(place, "") for place in places}
    return found


def _problem(problem: Problem) -> dict[str, str]:
    queue = problem.queue or ""
    place = (problem.path or "").removeprefix(f"queues.{queue}.")
    return {"queue": queue, "field": place, "message": problem.beside_field, "in_full": problem.in_full}


def _number(text: str | None) -> float:
    try:
        number = float(text or 0)
    except ValueError:
        return 0.0
    return number if 0 < number < float("inf") else 0.0
