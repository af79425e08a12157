"""What does a page answer to an edit: made, refused, or too late?"""

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
"""From what the page says besides (`problems` or `stale`) and a status to the page."""


def edited(
    request: HttpRequest,
    scenario: Scenario,
    make: Callable[[int], str],
    page: Page,
    leads_to: str,
    form: TypedForm | None = None,
) -> HttpResponse:
    """Make an edit and lead to where it shows; or show its page again, with what was typed.

    `make` receives the revision that the edit saw, and returns what was done; `form` says what is wrong.
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
    """Return what a page tells about an edit that came too late: who changed what meanwhile."""
    return {"error": error, "changes": changes_since(scenario, error.expected)}


def seen_revision(request: HttpRequest) -> int:
    """Return the revision that an edit saw; one that names none saw none."""
    return whole_number(request.POST.get("revision", ""))
