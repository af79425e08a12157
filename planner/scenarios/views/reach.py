"""The search for changes with which a figure of the queue table reaches an amount."""

import json
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from planner.errors import Invalid
from planner.scenarios.forms.reach import FoundChangeForm, ReachForm
from planner.scenarios.models import Scenario
from planner.scenarios.selectors.reach import AFTER, continuation, scenario_reach
from planner.scenarios.selectors.scenarios import objects_in, state_of
from planner.scenarios.services.nodes import NODES, nodes_add
from planner.scenarios.services.queues import queue_update
from planner.scenarios.views.editing import edited
from planner.web.templatetags.quantities import counted
from planner.web.views.found import queue_or_404, scenario_or_404
from planner.web.views.pages import INVALID, caller, fragment_requested
from planning.amounts import read_amounts
from planning.nodes import node_like
from planning.reach.answers import answer_of
from planning.reach.kinds import WEIGHT
from planning.reach.questions import FIGURES, NAMES
from planning.units import amount_texts

_PARTS = {"reach-found": "scenarios/_reach_found.html"}


@require_http_methods(["GET", "POST"])
def reach(request: HttpRequest, scenario_id: UUID) -> HttpResponse:
    """Show the form, with an amount the smallest change of each kind, or apply one of these changes."""
    scenario = scenario_or_404(request, scenario_id)
    params = {name: request.GET.get(name, "") for name in (*NAMES, AFTER)}
    if params["figure"] not in FIGURES:
        raise Http404
    if request.method == "POST":
        return _used(request, scenario, params)
    if not params["at_least"] and not params["at_most"]:
        return _shown(request, scenario, params)
    try:
        answer = scenario_reach(scenario, params)
    except Invalid as error:
        form = ReachForm(params)
        form.refuse(error.problems)
        return _shown(request, scenario, params, {"form": form}, INVALID)
    goes_on = continuation(scenario, answer)
    found = {"answer": answer_of(answer), "next": goes_on and urlencode({**params, AFTER: goes_on})}
    return _shown(request, scenario, params, found)


def _used(request: HttpRequest, scenario: Scenario, params: Mapping[str, str]) -> HttpResponse:
    """Apply an offered change as an edit in one revision."""

    def page(changed: Mapping[str, Any], status: int) -> HttpResponse:
        return _shown(request, scenario, params, changed, status)

    leads_to = reverse("planner:scenario-detail", args=[scenario.pk])
    if params["queue"]:
        leads_to = f"{leads_to}#queue-{params['queue']}"
    return edited(request, scenario, _making(request, scenario), page, leads_to)


def _making(request: HttpRequest, scenario: Scenario) -> Callable[[int], str]:
    form = FoundChangeForm(request.POST)

    def made(expected: int) -> str:
        if not form.is_valid():
            raise Invalid(form.problems)
        typed = form.cleaned_data
        if like := typed["like"]:
            model, count = objects_in(scenario, state_of(scenario)).get(NODES, like), typed["count"]
            if model is None:
                raise Http404
            nodes_add(
                scenario=scenario,
                prefix=like,
                count=count,
                made=lambda name: node_like(model, name),
                expected_revision=expected,
                user=caller(request),
            )
            return f"{counted(count, 'node')} like {like} added"
        queue_update(
            scenario=scenario,
            name=queue_or_404(scenario, typed["queue"]).name,
            patch=typed["patch"],
            expected_revision=expected,
            user=caller(request),
        )
        return f"Queue {typed['queue']} saved"

    return made


def _shown(
    request: HttpRequest,
    scenario: Scenario,
    params: Mapping[str, str],
    changed: Mapping[str, Any] | None = None,
    status: int = 200,
) -> HttpResponse:
    """Return the form with the found changes, as a line of the tree to htmx, otherwise as a page.

    While a search continues, htmx replaces only the found changes.
    """
    named = {name: text for name, text in params.items() if name not in ("at_least", "at_most", AFTER)}
    context = {
        "scenario": scenario,
        "params": params,
        "question": urlencode(named),
        "form": ReachForm(params),
        **(changed or {}),
    }
    if answer := context.get("answer"):
        context["changes"] = [
            {
                **_with_units(one),
                "patch": json.dumps(one["patch"]),
                "left": one["points"] - one["tried"],
            }
            for one in answer["changes"]
        ]
        context["decided"] = sum(one["status"] != "undecided" for one in answer["changes"])
    part = fragment_requested(request)
    template = _PARTS.get(part, "scenarios/_reach_line.html") if part else "scenarios/reach.html"
    return render(request, template, context, status=status)


def _with_units(change: Mapping[str, Any]) -> dict[str, Any]:
    """Return a change with its values as people write them; `exact` is the smallest one as in a manifest."""
    if change["queue"]:
        values = ("before", "after", "smaller", "largest")
        said = {name: _said(change["kind"], change[name]) for name in values if change[name]}
    else:
        words = {"before": "node", "smaller": "more node", "largest": "more node"}
        said = {name: counted(int(change[name]), word) for name, word in words.items() if change[name]}
        said["after"] = f"{counted(change['count'], 'node')} more"
    return {**change, **said, "exact": change["after"]}


def _said(kind: str, value: str) -> str:
    """Return the value of a queue's field: a weight, or the quantities of resources.

    >>> _said("weight", "1006"), _said("deserved", "cpu 1500m, memory 64Gi")
    ('1,006', '1.5 cores, 64 GiB')
    """
    if kind == WEIGHT:
        return f"{int(value):,}"
    read = read_amounts(dict(one.split(" ", 1) for one in value.split(", ")))
    amounts = {resource: amount for resource, amount in read.items() if amount is not None}
    return ", ".join(amount_texts(amounts, amounts))
