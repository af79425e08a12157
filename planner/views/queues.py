"""How is one queue edited in its line of the tree-table?"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from planner.engine.queues import queue_spec
from planner.forms import QUANTITIES, Texts, merged_fields, queue_fields, queue_patch, typed_fields
from planner.models import Change, Queue, Scenario
from planner.rows import Problem
from planner.selectors.history import as_before, changes_since
from planner.services.errors import Invalid, StaleRevision
from planner.services.queues import queue_update
from planner.views.pages import caller, fragment_asked
from planner.views.scenarios import (
    INVALID,
    STALE,
    scenario_or_404,
    scenario_page,
    scenario_tree,
    seen_revision,
)


@dataclass(frozen=True)
class Editor:
    """An open line: which queue, at which revision, what stands in its fields, and what is wrong with it."""

    queue: str
    revision: int
    resources: Sequence[str]
    fields: Texts
    problems: list[Problem] = field(default_factory=list)
    stale: StaleRevision | None = None
    changes: list[Change] = field(default_factory=list)

    @property
    def measures(self) -> list[dict[str, Any]]:
        """Return the columns of quantities, each with a field per resource."""
        return [
            {
                "name": path.split(".")[0],
                "fields": [
                    {"name": f"{path}.{resource}", "resource": resource} for resource in self.resources
                ],
            }
            for path in QUANTITIES
        ]

    @property
    def problem_of(self) -> dict[str, str]:
        """Return the sentence beside each field that has a problem."""
        prefix = f"queues.{self.queue}."
        return {(problem.path or "").removeprefix(prefix): problem.message for problem in self.problems}


@login_required
@require_http_methods(["GET", "POST"])
def queue(request: HttpRequest, scenario_id: UUID, name: str) -> HttpResponse:
    """Show a queue's line, open it for editing (``?edit``), or save what was typed."""
    scenario = scenario_or_404(request, scenario_id)
    try:
        stored = scenario.queues.get(name=name)
    except Queue.DoesNotExist:
        raise Http404 from None
    if request.method == "POST":
        return _save(request, scenario, stored)
    if "edit" in request.GET:
        resources = scenario_tree(scenario).resources
        fields = queue_fields(queue_spec(stored), resources)
        return _answer(request, scenario, Editor(name, scenario.revision, resources, fields))
    return _answer(request, scenario, None, name)


def _save(request: HttpRequest, scenario: Scenario, stored: Queue) -> HttpResponse:
    resources = scenario_tree(scenario).resources
    present = queue_fields(queue_spec(stored), resources)
    typed = typed_fields(request.POST.dict(), present)
    expected = seen_revision(request)
    try:
        queue_update(
            scenario=scenario,
            name=stored.name,
            patch=queue_patch(typed, present),
            expected_revision=expected,
            user=caller(request),
        )
    except Invalid as error:
        editor = Editor(stored.name, expected, resources, typed, problems=error.problems)
        return _answer(request, scenario, editor, status=INVALID)
    except StaleRevision as error:
        return _answer(request, scenario, _stale(scenario, stored, typed, error), status=STALE)
    return _saved(request, scenario, stored.name, expected)


def _stale(scenario: Scenario, stored: Queue, typed: Texts, error: StaleRevision) -> Editor:
    """Return the editor after somebody else's edit: nothing typed is lost, nothing of theirs is undone."""
    stored.refresh_from_db()
    later = changes_since(scenario, error.expected)
    spec = queue_spec(stored)
    resources = scenario_tree(scenario).resources
    fields = merged_fields(
        seen=queue_fields(as_before(spec, later, f"queues.{stored.name}."), resources),
        typed=typed,
        present=queue_fields(spec, resources),
    )
    return Editor(stored.name, error.current, resources, fields, stale=error, changes=later)


def _saved(request: HttpRequest, scenario: Scenario, name: str, expected: int) -> HttpResponse:
    if not fragment_asked(request):
        messages.success(request, f"Queue {name} saved: revision {scenario.revision}.")
        return redirect(reverse("planner:scenario-detail", args=[scenario.pk]) + f"#queue-{name}")
    response = _answer(request, scenario, None, name)
    response["HX-Trigger"] = json.dumps({"revision": {"seen": expected, "now": scenario.revision}})
    return response


def _answer(
    request: HttpRequest, scenario: Scenario, editor: Editor | None, name: str = "", status: int = 200
) -> HttpResponse:
    """Return the line alone to htmx, else the whole page with this line open."""
    if not fragment_asked(request):
        return scenario_page(request, scenario, {"editor": editor}, status)
    tree = scenario_tree(scenario)
    context: Mapping[str, Any] = {
        "scenario": scenario,
        "tree": tree,
        "line": tree.line(editor.queue if editor else name),
        "editor": editor,
        "alone": True,
    }
    return render(request, "planner/_queue_line.html", context, status=status)
