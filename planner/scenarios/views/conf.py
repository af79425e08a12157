"""The page of a scenario's scheduler configuration."""

import json
from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_http_methods, require_POST

from planner.accounts.models import Role
from planner.errors import Invalid, StaleRevision
from planner.scenarios.models import Scenario
from planner.scenarios.selectors.releases import release_choices, release_used
from planner.scenarios.services.scenarios import conf_patch, conf_update, release_update
from planner.scenarios.views.editing import STALE, changed_since, seen_revision
from planner.web.views.found import scenario_or_404
from planner.web.views.pages import INVALID, caller, is_htmx, page_or_part
from planning.conf_completion import conf_words
from planning.conf_fields import entry_operations
from planning.conf_form import conf_form
from planning.differences import line_changes
from planning.review import conf_findings, conf_questions
from planning.rows import Problem


@require_http_methods(["GET", "POST"])
def conf(request: HttpRequest, scenario_id: UUID) -> HttpResponse:
    """Show the configuration with its findings, check an entered text, or save it."""
    scenario = scenario_or_404(request, scenario_id)
    if request.method == "GET":
        return _page(request, scenario, scenario.conf_text)
    text = _typed(request, scenario)
    if "check" in request.POST:
        return _page(request, scenario, text, {"conf_checked": text != scenario.conf_text})
    try:
        conf_update(
            scenario=scenario, text=text, expected_revision=seen_revision(request), user=caller(request)
        )
    except Invalid as error:
        return _page(request, scenario, text, {"conf_problems": error.problems}, INVALID)
    except StaleRevision as error:
        return _page(request, scenario, text, {"conf_stale": changed_since(scenario, error)}, STALE)
    if not is_htmx(request):
        messages.success(request, f"Scheduler configuration saved: revision {scenario.revision}.")
        return redirect("planner:conf", scenario.pk)
    return _page(request, scenario, text, {"conf_saved": True})


@require_POST
def edit(request: HttpRequest, scenario_id: UUID) -> HttpResponse:
    """Apply one button or form: a JSON patch, or the fields of a plugin or an action's arguments."""
    scenario = scenario_or_404(request, scenario_id)
    if "text" in request.POST and _as_shown(_typed(request, scenario)) != _as_shown(scenario.conf_text):
        return _page(request, scenario, _typed(request, scenario), {"conf_unsaved": True}, INVALID)
    operations, problems = _operations(request, scenario.conf_text)
    shown = {"conf_open": request.POST.get("path", "")}
    try:
        if problems:
            raise Invalid(problems)
        conf_patch(
            scenario=scenario,
            operations=operations,
            expected_revision=seen_revision(request),
            user=caller(request),
        )
    except Invalid as error:
        refused = request.POST.dict() if "path" in request.POST else None
        changed = {**shown, "conf_problems": error.problems, "form": conf_form(scenario.conf_text, refused)}
        return _page(request, scenario, scenario.conf_text, changed, INVALID)
    except StaleRevision as error:
        moved = {"conf_moved": changed_since(scenario, error)}
        return _page(request, scenario, scenario.conf_text, moved, STALE)
    if not is_htmx(request):
        return redirect("planner:conf", scenario.pk)
    return _page(request, scenario, scenario.conf_text, {**shown, "conf_saved": True})


@require_POST
def release(request: HttpRequest, scenario_id: UUID) -> HttpResponse:
    """Select the release of Volcano."""
    scenario = scenario_or_404(request, scenario_id)
    try:
        release_update(
            scenario=scenario,
            name=request.POST.get("release", ""),
            expected_revision=seen_revision(request),
            user=caller(request),
        )
    except Invalid as error:
        return _page(request, scenario, scenario.conf_text, {"conf_problems": error.problems}, INVALID)
    except StaleRevision as error:
        moved = {"conf_moved": changed_since(scenario, error)}
        return _page(request, scenario, scenario.conf_text, moved, STALE)
    if not is_htmx(request):
        return redirect("planner:conf", scenario.pk)
    return _page(request, scenario, scenario.conf_text, {"release_saved": True})


def _typed(request: HttpRequest, scenario: Scenario) -> str:
    """Return the text of the field, with the line ends of the saved configuration."""
    text = request.POST.get("text", "").replace("\r\n", "\n")
    return text.replace("\n", "\r\n") if "\r\n" in scenario.conf_text else text


def _as_shown(text: str) -> str:
    """Return a text as a text area shows it: without an empty first line, with one kind of line end."""
    return text.replace("\r\n", "\n").removeprefix("\n")


def _operations(request: HttpRequest, text: str) -> tuple[Any, list[Problem]]:
    """Return the JSON patch of a form, and the problems of its fields."""
    if "path" in request.POST:
        return entry_operations(text, request.POST["path"], request.POST.dict())
    try:
        return json.loads(request.POST.get("operations", "")), []
    except (ValueError, RecursionError):
        return None, []


def _page(
    request: HttpRequest,
    scenario: Scenario,
    text: str,
    changed: Mapping[str, Any] | None = None,
    status: int = 200,
) -> HttpResponse:
    release = release_used(scenario)
    context = {
        "scenario": scenario,
        "release": release,
        "release_choices": release_choices(scenario),
        "conf_text": text,
        "conf_words": json.dumps(conf_words()),
        "form": conf_form(text),
        "is_saved": text == scenario.conf_text,
        "may_edit": scenario.role != Role.VIEWER,  # type: ignore[attr-defined]  # set by the selector
        "findings": conf_findings(text, release),
        "lines_changed": line_changes(scenario.snapshot.scheduler_conf, text),
        "questions": [
            question for question in conf_questions(text, release) if question.plugins or question.switches
        ],
        **(changed or {}),
    }
    return page_or_part(request, "scenarios/conf.html", {"conf": "scenarios/_conf.html"}, context, status)
