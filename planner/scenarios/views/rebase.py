"""How does a scenario come to a newer snapshot of its cluster? First it is shown, then saved."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from planner.clusters.models import Snapshot
from planner.errors import Invalid, StaleRevision
from planner.scenarios.models import Scenario
from planner.scenarios.selectors.revisions import differences_on, rebase_of, rebase_takes_long
from planner.scenarios.selectors.scenarios import snapshots_to_carry_over_to
from planner.scenarios.services.branches import scenario_rebase
from planner.scenarios.views.changes import NameForm, things
from planner.scenarios.views.editing import STALE, changed_since, seen_revision
from planner.web.views.found import scenario_or_404
from planner.web.views.pages import INVALID, caller
from planning.change_words import KIND_WORDS
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


@dataclass(frozen=True)
class ConflictShown:
    """A conflict with the words of its kind; of the configuration the lines that each side changed."""

    number: int
    conflict: Conflict
    ours: Any
    theirs: Any

    @property
    def name(self) -> str:
        """Return the name of the form's field that decides it."""
        return _TAKES + _BETWEEN.join(self.conflict.id)

    @property
    def word(self) -> str:
        """Return what kind of thing it is about."""
        return KIND_WORDS[self.conflict.kind]

    @property
    def why(self) -> str:
        """Return why it has to be decided."""
        return WHY[self.conflict.what]


@login_required
@require_http_methods(["GET", "POST"])
def carry_over(request: HttpRequest, scenario_id: UUID) -> HttpResponse:
    """Show what a scenario would say on a newer snapshot, or begin a branch that says so."""
    scenario = scenario_or_404(request, scenario_id)
    found = list(snapshots_to_carry_over_to(caller(request), scenario))
    data = request.POST if request.method == "POST" else request.GET
    snapshot = next((one for one in found if str(one.pk) == data.get("snapshot")), None)
    context: dict[str, Any] = {"scenario": scenario, "snapshots": found, "snapshot": snapshot}
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
    context |= {
        "conflicts": [_shown(number, one) for number, one in enumerate(carried.conflicts)],
        "things": list(things(differences_on(snapshot, carried.state))),
    }
    return render(request, "scenarios/carry_over.html", context, status=context.get("status", 200))


def _carried(
    request: HttpRequest, scenario: Scenario, snapshot: Snapshot, choices: Mapping[ConflictId, str]
) -> HttpResponse | dict[str, Any]:
    """Return the way to the new scenario, or what the page says because there is none."""
    form = NameForm(request.POST)
    if not form.is_valid():
        messages.warning(request, f"Nothing was saved. Name: {form.errors['name'][0]}")
        return {"status": INVALID}
    name = form.cleaned_data["name"] or scenario.name
    try:
        made = scenario_rebase(
            scenario=scenario,
            snapshot=snapshot,
            name=name,
            choices=choices,
            expected_revision=seen_revision(request),
            user=caller(request),
        )
    except Invalid as error:
        return {"problems": error.problems, "status": INVALID}
    except StaleRevision as error:
        return {"stale": changed_since(scenario, error), "status": STALE}
    messages.success(request, f"Rebased onto {snapshot.name}. {scenario.name} is unchanged.")
    return redirect("planner:scenario-detail", made.pk)


def _choices(typed: Mapping[str, str]) -> dict[ConflictId, str]:
    """Return what the form decided; a field that decides is named after kind, key and field."""
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
