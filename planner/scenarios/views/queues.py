"""Edits of the queue tree on the scenario's page: of single lines, and of the tree."""

import json
from collections.abc import Callable
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST

from planner.errors import Invalid, StaleRevision
from planner.scenarios.forms.queues import merged_fields, queue_fields, typed_queue
from planner.scenarios.models import Queue, Scenario
from planner.scenarios.selectors.history import as_before, changes_since, last_changes, steps
from planner.scenarios.services import history
from planner.scenarios.services.queues import queue_create, queue_duplicate, queue_remove, queue_update
from planner.scenarios.views.editing import STALE, changed_since, seen_revision
from planner.scenarios.views.queue_editor import Editor
from planner.scenarios.views.queue_tree import Shown, scenario_tree, shown_of
from planner.scenarios.views.scenarios import scenario_page
from planner.web.views.found import queue_or_404, scenario_or_404
from planner.web.views.pages import INVALID, caller, fragment_requested
from planning.queues import queue_spec
from planning.states import QUEUES


@require_http_methods(["GET", "POST"])
def queue(request: HttpRequest, scenario_id: UUID, name: str) -> HttpResponse:
    """Show a queue's line, open it for editing (``?edit``), or save its fields."""
    scenario = scenario_or_404(request, scenario_id)
    if request.method == "POST" and _is_gone(request, scenario, name):
        return _save_gone(request, scenario, name)
    stored = queue_or_404(scenario, name)
    if request.method == "POST":
        return _save(request, scenario, stored)
    tree = scenario_tree(scenario, shown_of(request))
    if "edit" in request.GET:
        fields = queue_fields(queue_spec(stored), tree.resources)
        editor = Editor(scenario, name, scenario.revision, tree, fields)
        return _line(request, editor)
    context = {"scenario": scenario, "tree": tree, "line": tree.line(name), "alone": True}
    return render(request, "scenarios/_queue_line.html", context)


@require_http_methods(["GET", "POST"])
def queues(request: HttpRequest, scenario_id: UUID) -> HttpResponse:
    """Open a line for a new queue below ``?parent``, or add it."""
    scenario = scenario_or_404(request, scenario_id)
    if request.method == "GET":
        tree = scenario_tree(scenario, shown_of(request))
        blank = queue_fields({"parent": request.GET.get("parent") or None}, tree.resources)
        return _line(request, Editor(scenario, "", scenario.revision, tree, blank))
    return _save(request, scenario)


@require_POST
def move(request: HttpRequest, scenario_id: UUID, name: str) -> HttpResponse:
    """Move a queue with its descendants to another parent."""

    def moved(scenario: Scenario, expected: int) -> str:
        patch = {"parent": request.POST.get("parent") or None}
        queue_update(
            scenario=scenario, name=name, patch=patch, expected_revision=expected, user=caller(request)
        )
        return name

    return _done(request, _scenario_with(request, scenario_id, name), moved, f"Queue {name} moved")


@require_POST
def duplicate(request: HttpRequest, scenario_id: UUID, name: str) -> HttpResponse:
    """Add a copy of this queue beside it."""

    def duplicated(scenario: Scenario, expected: int) -> str:
        twin = queue_duplicate(scenario=scenario, name=name, expected_revision=expected, user=caller(request))
        return twin.name

    scenario = _scenario_with(request, scenario_id, name)
    return _done(request, scenario, duplicated, f"Queue {name} duplicated")


@require_http_methods(["GET", "POST"])
def remove(request: HttpRequest, scenario_id: UUID, name: str) -> HttpResponse:
    """Ask for confirmation, listing what depends on the queue, or remove it with its descendants."""
    if request.method == "GET":
        return _ask_removal(request, scenario_or_404(request, scenario_id), name)

    def removed(scenario: Scenario, expected: int) -> str:
        queue = scenario.queues.filter(name=name).first()
        queue_remove(
            scenario=scenario, name=name, subtree=True, expected_revision=expected, user=caller(request)
        )
        return queue.parent if queue else ""

    return _done(request, _scenario_with(request, scenario_id, name), removed, f"Queue {name} removed")


@require_POST
def undo(request: HttpRequest, scenario_id: UUID) -> HttpResponse:
    """Undo the last revision of the scenario."""
    return _walk(request, scenario_or_404(request, scenario_id), history.undo, "Undone")


@require_POST
def redo(request: HttpRequest, scenario_id: UUID) -> HttpResponse:
    """Redo the last undone revision."""
    return _walk(request, scenario_or_404(request, scenario_id), history.redo, "Redone")


def _walk(
    request: HttpRequest, scenario: Scenario, walk: Callable[..., Scenario], message: str
) -> HttpResponse:
    def walked(scenario: Scenario, expected: int) -> str:
        walk(scenario=scenario, expected_revision=expected, user=caller(request))
        changed = scenario.changes.filter(revision=scenario.revision, kind=QUEUES).first()
        return changed.key if changed else ""

    return _done(request, scenario, walked, message)


def _save(request: HttpRequest, scenario: Scenario, stored: Queue | None = None) -> HttpResponse:
    """Save the line of an existing or a new queue."""
    name, spec = (stored.name, queue_spec(stored)) if stored else ("", {})
    typed, patch = typed_queue(request.POST.dict(), spec)
    expected, shown = seen_revision(request), shown_of(request)
    edit: dict[str, Any] = {"scenario": scenario, "expected_revision": expected, "user": caller(request)}
    try:
        saved = queue_update(name=name, patch=patch, **edit) if stored else queue_create(spec=patch, **edit)
    except Invalid as error:
        tree = scenario_tree(scenario, shown)
        fields = queue_fields(spec, tree.resources) | typed
        editor = Editor(scenario, name, expected, tree, fields, problems=error.problems)
        return _line(request, editor, status=INVALID)
    except StaleRevision as error:
        return _line(request, _stale(scenario, shown, stored, typed, error), status=STALE)
    done = "saved" if stored else "added"
    return queues_changed(request, scenario, saved.name, f"Queue {saved.name} {done}", expected)


def _save_gone(request: HttpRequest, scenario: Scenario, name: str) -> HttpResponse:
    """Refuse a stale edit of a queue that has another name now, or none, with the changes since."""

    def saved(scenario: Scenario, expected: int) -> str:
        return queue_update(
            scenario=scenario, name=name, patch={}, expected_revision=expected, user=caller(request)
        ).name

    return _done(request, scenario, saved, f"Queue {name} saved")


def _stale(
    scenario: Scenario,
    shown: Shown,
    stored: Queue | None,
    typed: dict[str, str],
    error: StaleRevision,
) -> Editor:
    """Return the editor after a conflicting edit, with the entered values and the other edit's changes."""
    present = queue_or_404(scenario, stored.name) if stored else None
    name, spec = (present.name, queue_spec(present)) if present else ("", {})
    later = changes_since(scenario, error.expected)
    tree = scenario_tree(scenario, shown)
    now = queue_fields(spec, tree.resources)
    seen = queue_fields(as_before(spec, later, f"queues.{name}."), tree.resources)
    fields = now | merged_fields(seen=seen, typed=typed, present=now)
    return Editor(scenario, name, error.current, tree, fields, stale=error, changes=later)


def _done(
    request: HttpRequest, scenario: Scenario, change: Callable[[Scenario, int], str], message: str
) -> HttpResponse:
    """Change the shape of the tree; `change` returns the queue to show afterwards."""
    expected = seen_revision(request)
    try:
        looked_at = change(scenario, expected)
    except Invalid as error:
        return edit_refused(request, scenario, {"refused": error.problems}, INVALID)
    except StaleRevision as error:
        return edit_refused(request, scenario, {"stale": changed_since(scenario, error)}, STALE)
    return queues_changed(request, scenario, looked_at, message, expected)


def _line(request: HttpRequest, editor: Editor, status: int = 200) -> HttpResponse:
    """Return the open line to htmx, the tree with it if requested, otherwise the whole page."""
    context = {"scenario": editor.scenario, "tree": editor.tree, "editor": editor}
    target = fragment_requested(request)
    if target is None:
        return scenario_page(request, editor.scenario, context, status)
    if target == "tree":
        return render(request, "scenarios/_queue_tree.html", context, status=status)
    context["line"] = editor.tree.line(editor.queue)
    return render(request, "scenarios/_queue_editor.html", context, status=status)


def _ask_removal(request: HttpRequest, scenario: Scenario, name: str) -> HttpResponse:
    queue_or_404(scenario, name)
    tree = scenario_tree(scenario, shown_of(request))
    below, line = tree.below(name), tree.line(name)
    leaving = [queue.answer for queue in [line, *below] if queue is not None]
    removal = {
        "line": line,
        "below": below,
        "more": len(below) - 12,
        "jobs": sum(answer.jobs for answer in leaving),
        "running": sum(answer.running for answer in leaving),
        "pending": sum(answer.pending for answer in leaving),
        "address": reverse("planner:queue-remove", args=[scenario.pk, name]),
    }
    context = {"scenario": scenario, "tree": tree, "removal": removal}
    if fragment_requested(request) is None:
        return scenario_page(request, scenario, context)
    return render(request, "scenarios/_queue_removal.html", context)


def edit_refused(
    request: HttpRequest, scenario: Scenario, context: dict[str, Any], status: int
) -> HttpResponse:
    """Return the problems of a rejected edit above the table; `context` has the values for a whole page."""
    if fragment_requested(request) is None:
        return scenario_page(request, scenario, context, status)
    context_of_tree = {"tree": scenario_tree(scenario, shown_of(request)), **context}
    response = render(request, "scenarios/_tree_messages.html", context_of_tree, status=status)
    response["HX-Retarget"], response["HX-Reswap"] = "#tree-messages", "innerHTML"
    return response


def queues_changed(
    request: HttpRequest, scenario: Scenario, name: str, message: str, expected: int
) -> HttpResponse:
    """Return the tree with new figures to htmx, otherwise redirect to the page."""
    shown = shown_of(request)
    if fragment_requested(request) is None:
        messages.success(request, f"{message}: revision {scenario.revision}.")
        page = reverse("planner:scenario-detail", args=[scenario.pk])
        query = f"?{shown.query()}" if shown.query() else ""
        return redirect(f"{page}{query}#queue-{name}")
    context = {
        "scenario": scenario,
        "tree": scenario_tree(scenario, shown),
        "steps": steps(scenario),
        "changes": last_changes(scenario),
        "shown": name,
        "alone": True,
    }
    response = render(request, "scenarios/_queue_changed.html", context)
    response["HX-Retarget"], response["HX-Reswap"] = "#tree", "outerHTML"
    response["HX-Trigger"] = json.dumps({"revision": {"seen": expected, "now": scenario.revision}})
    return response


def _scenario_with(request: HttpRequest, scenario_id: UUID, name: str) -> Scenario:
    """Return the scenario if it has a queue of this name or the edit is stale, or raise Http404."""
    scenario = scenario_or_404(request, scenario_id)
    if not _is_gone(request, scenario, name):
        queue_or_404(scenario, name)
    return scenario


def _is_gone(request: HttpRequest, scenario: Scenario, name: str) -> bool:
    """Return whether a queue was renamed or removed after the revision that an edit is based on."""
    is_stale = seen_revision(request) != scenario.revision
    return is_stale and not scenario.queues.filter(name=name).exists()
