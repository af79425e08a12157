"""The pages of a rebase: preview, then save; a worker rebases onto large snapshots."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from planner.clusters.models import Snapshot
from planner.errors import Invalid, StaleRevision
from planner.scenarios.models import Rebase, Scenario
from planner.scenarios.selectors.rebases import (
    get_rebase,
    problems_of,
    rebase_of,
    rebase_takes_long,
    rebases_at_work,
    snapshots_to_carry_over_to,
)
from planner.scenarios.selectors.scenarios import differences_on
from planner.scenarios.services.branches import scenario_rebase
from planner.scenarios.services.rebases import rebase_create
from planner.scenarios.views.changes import NameForm, things
from planner.scenarios.views.editing import STALE, changed_since, seen_revision
from planner.web.views.following import UNCHANGED, seen
from planner.web.views.found import scenario_or_404
from planner.web.views.pages import INVALID, caller, found_or_404, is_htmx, page_or_part
from planner.work.lifecycle import work_cancel
from planning.change_descriptions import KIND_WORDS
from planning.differences import line_changes
from planning.rebase.conflicts import SIDES, Conflict, ConflictId
from planning.states import CONF

WHY = {
    "both_changed": "changed in both, to different values",
    "removed_here": "removed here, changed there",
    "removed_there": "changed here, removed there",
    "name_taken": "renamed here to a name that another queue has there",
    "circle": "combined with the changes there, it would become its own ancestor",
}
_TAKES, _BETWEEN = "take:", "|"
MOST_SHOWN = 200
"""The most listed differences; the API has them all."""
PARTS = {"rebase": "scenarios/_rebase.html"}


@dataclass(frozen=True)
class ConflictShown:
    """A conflict with the word for its kind; for the configuration, the lines that each side changed."""

    number: int
    conflict: Conflict
    ours: Any
    theirs: Any

    @property
    def name(self) -> str:
        """Return the name of the form's field for the choice."""
        return _TAKES + _BETWEEN.join(self.conflict.id)

    @property
    def word(self) -> str:
        """Return the word for the kind of object."""
        return KIND_WORDS[self.conflict.kind]

    @property
    def why(self) -> str:
        """Return why it needs a decision."""
        return WHY[self.conflict.what]


@require_http_methods(["GET", "POST"])
def carry_over(request: HttpRequest, scenario_id: UUID) -> HttpResponse:
    """Show the scenario on another snapshot, or create the branch."""
    scenario = scenario_or_404(request, scenario_id)
    found = list(snapshots_to_carry_over_to(caller(request), scenario))
    data = request.POST if request.method == "POST" else request.GET
    snapshot = next((one for one in found if str(one.pk) == data.get("snapshot")), None)
    context: dict[str, Any] = {
        "scenario": scenario,
        "snapshots": found,
        "snapshot": snapshot,
        "at_work": rebases_at_work(scenario),
    }
    if snapshot is None:
        return render(request, "scenarios/carry_over.html", context)
    choices = _choices(request.POST)
    if request.method == "POST":
        answer = _carried(request, scenario, snapshot, choices)
        if isinstance(answer, HttpResponse):
            return answer
        context |= answer
    elif "compare" not in request.GET and rebase_takes_long(scenario, snapshot):
        return render(request, "scenarios/carry_over.html", {**context, "comes_later": True})
    carried = rebase_of(scenario, snapshot, choices)
    differing = list(things(differences_on(snapshot, carried.state)))
    context |= {
        "conflicts": [_shown(number, one) for number, one in enumerate(carried.conflicts)],
        "things": differing[:MOST_SHOWN],
        "differing": len(differing),
    }
    return render(request, "scenarios/carry_over.html", context, status=context.get("status", 200))


def _carried(
    request: HttpRequest, scenario: Scenario, snapshot: Snapshot, choices: Mapping[ConflictId, str]
) -> HttpResponse | dict[str, Any]:
    """Return the address of the new scenario, or the context of the page that says why there is none."""
    form = NameForm(request.POST)
    if not form.is_valid():
        messages.warning(request, f"Nothing was saved. Name: {form.errors['name'][0]}")
        return {"status": INVALID}
    arguments: dict[str, Any] = {
        "scenario": scenario,
        "snapshot": snapshot,
        "name": form.cleaned_data["name"] or scenario.name,
        "choices": choices,
        "expected_revision": seen_revision(request),
        "user": caller(request),
    }
    try:
        if rebase_takes_long(scenario, snapshot):
            return redirect("planner:rebase-detail", rebase_create(**arguments).pk)
        made = scenario_rebase(**arguments)
    except Invalid as error:
        return {"problems": error.problems, "status": INVALID}
    except StaleRevision as error:
        return {"stale": changed_since(scenario, error), "status": STALE}
    messages.success(request, f"Rebased onto {snapshot.name}. {scenario.name} is unchanged.")
    return redirect("planner:scenario-detail", made.pk)


@require_GET
def detail(request: HttpRequest, rebase_id: UUID) -> HttpResponse:
    """Show a rebase by a worker; answer a poll with 204 if nothing changed."""
    rebase = found_or_404(request, get_rebase, rebase_id)
    if request.GET.get("seen") == seen(rebase):
        return HttpResponse(status=UNCHANGED)
    return page_or_part(request, "scenarios/rebase_detail.html", PARTS, _context(rebase))


@require_POST
def cancel(request: HttpRequest, rebase_id: UUID) -> HttpResponse:
    """Request a rebase to stop and show its state."""
    rebase = work_cancel(work=found_or_404(request, get_rebase, rebase_id), user=caller(request))
    if is_htmx(request):
        return render(request, PARTS["rebase"], _context(rebase))
    return redirect("planner:rebase-detail", rebase.pk)


def _context(rebase: Rebase) -> dict[str, Any]:
    """Return the context of a rebase's page."""
    return {"rebase": rebase, "seen": seen(rebase), "problems": problems_of(rebase)}


def _choices(typed: Mapping[str, str]) -> dict[ConflictId, str]:
    """Return the choices of the form, whose field names contain kind, key and field."""
    choices: dict[ConflictId, str] = {}
    for name, take in typed.items():
        parts = name.removeprefix(_TAKES).split(_BETWEEN)
        if name.startswith(_TAKES) and len(parts) == 3 and take in SIDES:
            choices[parts[0], parts[1], parts[2]] = take
    return choices


def _shown(number: int, conflict: Conflict) -> ConflictShown:
    if conflict.kind == CONF:
        sides = [line_changes(conflict.base, side) for side in (conflict.ours, conflict.theirs)]
        return ConflictShown(number, conflict, *sides)
    return ConflictShown(number, conflict, conflict.ours, conflict.theirs)
