"""The page of a scenario's differences and history, with undo and revert."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from typing import Any
from uuid import UUID

from django import forms
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_POST

from planner.errors import StaleRevision
from planner.scenarios.models import Change, Scenario
from planner.scenarios.selectors.history import changes, steps
from planner.scenarios.selectors.scenarios import BASES, SNAPSHOT, differences_from, state_at
from planner.scenarios.services.branches import scenario_branch
from planner.scenarios.services.history import change_revert, difference_revert, redo, undo
from planner.scenarios.services.scenarios import scenario_remove
from planner.scenarios.views.editing import STALE, changed_since, edited, seen_revision
from planner.web.views.found import scenario_or_404
from planner.web.views.listing import Listing
from planner.web.views.pages import caller, whole_number
from planning.change_descriptions import AS_IMPORTED, KIND_WORDS, change_text
from planning.differences import field_changes, line_changes
from planning.queues import queue_spec
from planning.rows import queue_rows
from planning.states import CONF, QUEUES, RELEASE, Edit, queue_of

WAYS: Mapping[str, Callable[..., Scenario]] = {Change.Way.UNDO: undo, Change.Way.REDO: redo}
SHOWN_FIELDS = 12
LONGEST_NAME = 253


class NameForm(forms.Form):
    """The name of a new scenario; empty: a name derived from its origin."""

    name = forms.CharField(max_length=LONGEST_NAME, required=False)


@dataclass(frozen=True)
class FieldShown:
    """A field before and after; `edit` reverts it alone, None if only the whole object can be reverted."""

    path: str
    before: Any
    after: Any
    edit: Edit | None = None


@dataclass(frozen=True)
class ThingShown:
    """One queue or object with a difference: added, removed, or with changed fields."""

    kind: str
    key: str
    what: str
    fields: list[FieldShown]
    lines: list[str]
    edit: Edit | None
    more: int = 0

    @property
    def word(self) -> str:
        """Return the word for this kind of object."""
        return KIND_WORDS[self.kind]


@require_GET
def show(request: HttpRequest, scenario_id: UUID) -> HttpResponse:
    """Show the differences from the base, and the history."""
    return _page(request, scenario_or_404(request, scenario_id))


@require_GET
def revision(request: HttpRequest, scenario_id: UUID, number: int) -> HttpResponse:
    """Show an older revision, read-only."""
    scenario = scenario_or_404(request, scenario_id)
    if not 1 <= number <= scenario.revision:
        raise Http404
    state = state_at(scenario, number)
    context = {
        "scenario": scenario,
        "number": number,
        "rows": queue_rows(state.ordered_queues()),
        "conf_text": state.conf_text,
        "objects": [
            {"word": KIND_WORDS[kind], "key": key, "gone": manifest is None}
            for (kind, key), manifest in sorted(state.objects.items(), key=lambda entry: entry[0])
        ],
        "made": changes(scenario).filter(revision=number),
    }
    return render(request, "scenarios/revision.html", context)


@require_POST
def walk(request: HttpRequest, scenario_id: UUID, way: str) -> HttpResponse:
    """Undo or redo one revision."""
    step = WAYS.get(way)
    if step is None:
        raise Http404
    message = {Change.Way.UNDO: "Undone", Change.Way.REDO: "Redone"}[Change.Way(way)]
    return _edited(request, scenario_or_404(request, scenario_id), step, message)


@require_POST
def revert_change(request: HttpRequest, scenario_id: UUID, change_id: UUID) -> HttpResponse:
    """Revert one change."""
    scenario = scenario_or_404(request, scenario_id)
    change = get_object_or_404(scenario.changes, pk=change_id)

    def revert(**params: Any) -> Scenario:
        return change_revert(change=change, **params)

    return _edited(request, scenario, revert, f"Reverted {change_text(change)}")


@require_POST
def revert_difference(request: HttpRequest, scenario_id: UUID) -> HttpResponse:
    """Restore one object as it is in the base."""
    scenario = scenario_or_404(request, scenario_id)
    named = tuple(request.POST.get(name, "") for name in ("kind", "key", "field"))
    base = _base(request.POST)
    found = differences_from(scenario, base)
    one = next((edit for edit in found if (edit.kind, edit.key, edit.field) == named), None)
    if one is None:
        raise Http404

    def revert(**params: Any) -> Scenario:
        return difference_revert(difference=one, base=base, **params)

    about = " ".join(part for part in (KIND_WORDS[one.kind], one.key, one.field) if part)
    return _edited(request, scenario, revert, f"Reverted {about}")


@require_POST
def branch(request: HttpRequest, scenario_id: UUID) -> HttpResponse:
    """Create a scenario from this one at its current or an older revision."""
    scenario = scenario_or_404(request, scenario_id)
    number = min(whole_number(request.POST.get("revision", "")), scenario.revision) or None
    form = NameForm(request.POST)
    if not form.is_valid():
        messages.warning(request, f"No branch was created. Name: {form.errors['name'][0]}")
        return redirect("planner:changes", scenario.pk)
    name = form.cleaned_data["name"] or f"{scenario.name}, a branch"[:LONGEST_NAME]
    made = scenario_branch(scenario=scenario, name=name, revision=number, user=caller(request))
    messages.success(request, f"Branched from {scenario.name}, revision {made.parent_revision}.")
    return redirect("planner:scenario-detail", made.pk)


@require_POST
def remove(request: HttpRequest, scenario_id: UUID) -> HttpResponse:
    """Hide a scenario and its runs."""
    scenario = scenario_or_404(request, scenario_id)
    expected = seen_revision(request)
    try:
        scenario_remove(scenario=scenario, expected_revision=expected, user=caller(request))
    except StaleRevision as error:
        return _page(request, scenario, {"stale": changed_since(scenario, error)}, STALE)
    messages.success(request, f"{scenario.name} was removed. Its changes stay in the workspace's history.")
    return redirect("planner:home")


def _edited(
    request: HttpRequest, scenario: Scenario, change: Callable[..., Scenario], message: str
) -> HttpResponse:
    def make(expected: int) -> str:
        change(scenario=scenario, expected_revision=expected, user=caller(request))
        return message

    leads_to = f"{reverse('planner:changes', args=[scenario.pk])}?base={_base(request.POST)}"
    return edited(request, scenario, make, partial(_page, request, scenario), leads_to)


def _page(
    request: HttpRequest, scenario: Scenario, changed: Mapping[str, Any] | None = None, status: int = 200
) -> HttpResponse:
    base = _base(request.POST if request.method == "POST" else request.GET)
    found = differences_from(scenario, base)
    context = {
        "scenario": scenario,
        "base": base,
        "things": list(things(found)),
        "count": len(found),
        "history": Listing(changes(scenario), name="page", params=request.GET),
        "steps": steps(scenario),
        **(changed or {}),
    }
    return render(request, "scenarios/changes.html", context, status=status)


def _base(params: Mapping[str, str]) -> str:
    base = params.get("base", "")
    return base if base in BASES else SNAPSHOT


def things(found: Iterable[Edit]) -> Iterable[ThingShown]:
    """Yield the differences by object, for display."""
    for (kind, key), edits in groupby(found, key=lambda edit: (edit.kind, edit.key)):
        together = list(edits)
        whole = next((edit for edit in together if not edit.field), None)
        if kind == CONF and whole is not None:
            yield ThingShown(kind, key, "changed", [], line_changes(whole.before, whole.after), whole)
        elif kind == RELEASE and whole is not None:
            named = FieldShown("release", whole.before or AS_IMPORTED, whole.after or AS_IMPORTED)
            yield ThingShown(kind, key, "changed", [named], [], whole)
        elif whole is None:
            fields = [FieldShown(edit.field, edit.before, edit.after, edit) for edit in together]
            yield ThingShown(kind, key, "changed", fields, [], None)
        else:
            yield _whole(whole)


def _whole(edit: Edit) -> ThingShown:
    if edit.before is None or edit.after is None:
        what = "added" if edit.before is None else "removed"
        fields = _queue_fields(edit) if edit.kind == QUEUES else []
        return ThingShown(edit.kind, edit.key, what, fields, [], edit)
    inside = [FieldShown(*change) for change in field_changes(edit.before, edit.after)]
    more = max(0, len(inside) - SHOWN_FIELDS)
    return ThingShown(edit.kind, edit.key, "changed", inside[:SHOWN_FIELDS], [], edit, more)


def _queue_fields(edit: Edit) -> list[FieldShown]:
    """Return the fields that an added queue sets, or that a removed one had set."""
    spec = queue_spec(queue_of(edit.after or edit.before))
    fields = {
        name: value
        for name, value in spec.items()
        if name != "name" and value not in (None, {}, {"resource": {}})
    }
    added = edit.before is None
    return [
        FieldShown(name, None if added else value, value if added else None) for name, value in fields.items()
    ]
