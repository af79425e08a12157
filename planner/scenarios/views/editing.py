"""Responses of a page to an edit: made, rejected or stale."""

from collections.abc import Callable, Mapping
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from planner.errors import Invalid, StaleRevision
from planner.scenarios.models import Scenario
from planner.scenarios.selectors.history import changes_since
from planner.web.forms import TypedForm
from planner.web.views.pages import INVALID, whole_number

STALE = 412

Page = Callable[[Mapping[str, Any], int], HttpResponse]
"""From extra context (`problems` or `stale`) and a status to the page."""


def edited(
    request: HttpRequest,
    scenario: Scenario,
    make: Callable[[int], str],
    page: Page,
    leads_to: str,
    form: TypedForm | None = None,
) -> HttpResponse:
    """Make an edit and redirect to its result, or show its page again with the entered values.

    `make` receives the revision that the edit is based on, and returns what was done; `form` shows problems.
    """
    try:
        message = make(seen_revision(request))
    except Invalid as error:
        if form is not None:
            form.refuse(error.problems)
        return page({"problems": error.problems, "is_refused": True}, INVALID)
    except StaleRevision as error:
        return page({"stale": changed_since(scenario, error)}, STALE)
    messages.success(request, f"{message}: revision {scenario.revision}.")
    return redirect(leads_to)


def changed_since(scenario: Scenario, error: StaleRevision) -> dict[str, Any]:
    """Return the context of a stale edit: the changes since its revision."""
    return {"error": error, "changes": changes_since(scenario, error.expected)}


def seen_revision(request: HttpRequest) -> int:
    """Return the revision that an edit is based on; 0 if it has none."""
    return whole_number(request.POST.get("revision", ""))
