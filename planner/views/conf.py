"""How is a scenario's scheduler configuration read, checked and edited on its page?"""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_http_methods

from planner.engine.review import conf_findings, conf_questions
from planner.models import Scenario
from planner.selectors.history import changes_since
from planner.services.errors import Invalid, StaleRevision
from planner.services.scenarios import conf_update
from planner.views.pages import caller, page_or_part
from planner.views.scenarios import INVALID, STALE, scenario_or_404, seen_revision


@login_required
@require_http_methods(["GET", "POST"])
def conf(request: HttpRequest, scenario_id: UUID) -> HttpResponse:
    """Show the configuration with what there is to say about it, check what was typed, or save it."""
    scenario = scenario_or_404(request, scenario_id)
    if request.method == "GET":
        return _page(request, scenario, scenario.conf_text)
    text = request.POST.get("text", "").replace("\r\n", "\n")
    if "check" in request.POST:
        return _page(request, scenario, text, {"conf_checked": text != scenario.conf_text})
    try:
        conf_update(
            scenario=scenario, text=text, expected_revision=seen_revision(request), user=caller(request)
        )
    except Invalid as error:
        return _page(request, scenario, text, {"conf_problems": error.problems}, INVALID)
    except StaleRevision as error:
        stale = {"error": error, "changes": changes_since(scenario, error.expected)}
        return _page(request, scenario, text, {"conf_stale": stale}, STALE)
    if not request.htmx:  # type: ignore[attr-defined]  # set by django_htmx's middleware
        messages.success(request, f"Scheduler configuration saved: revision {scenario.revision}.")
        return redirect("planner:conf", scenario.pk)
    return _page(request, scenario, text, {"conf_saved": True})


def _page(
    request: HttpRequest,
    scenario: Scenario,
    text: str,
    changed: Mapping[str, Any] | None = None,
    status: int = 200,
) -> HttpResponse:
    context = {
        "scenario": scenario,
        "conf_text": text,
        "findings": conf_findings(text),
        "questions": [question for question in conf_questions(text) if question.asked or question.switches],
        **(changed or {}),
    }
    return page_or_part(
        request, "planner/scenario_conf.html", {"conf": "planner/_conf.html"}, context, status
    )
