"""The tab with the nodes of a scenario."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_POST

from planner.scenarios.forms.objects import NODE_ACTIONS, NodeChangeForm, NodesForm
from planner.scenarios.models import Scenario
from planner.scenarios.selectors.scenarios import objects_in, state_of, state_of_snapshot
from planner.scenarios.services.nodes import NODES, nodes_add, nodes_remove, nodes_update
from planner.scenarios.views.editing import edited
from planner.scenarios.views.object_tables import ObjectTable, node_columns, node_key
from planner.web.templatetags.quantities import resource_order
from planner.web.views.found import scenario_or_404
from planner.web.views.pages import caller
from planning.nodes import NodeRow, node_like, node_of, node_rows, pool_rows


@require_GET
def show(request: HttpRequest, scenario_id: UUID) -> HttpResponse:
    """Show pools and nodes."""
    return _page(request, scenario_or_404(request, scenario_id))


@require_POST
def add(request: HttpRequest, scenario_id: UUID) -> HttpResponse:
    """Add nodes of one shape: copies of a node, or of a given capacity."""
    scenario = scenario_or_404(request, scenario_id)
    objects = objects_in(scenario, state_of(scenario))
    form = _form(node_rows(objects), request.POST)

    def change(expected: int) -> str:
        typed = form.typed()
        like, capacity = objects.get(NODES, typed["like"]), form.amounts()
        names = nodes_add(
            scenario=scenario,
            prefix=typed["prefix"],
            count=typed["count"],
            made=lambda name: node_like(like, name) if like else node_of(name, capacity, {}),
            expected_revision=expected,
            user=caller(request),
        )
        return f"{names[0]} added" if len(names) == 1 else f"{len(names)} nodes added"

    return _edited(request, scenario, change, form)


def _form(rows: Sequence[NodeRow], data: Mapping[str, str] | None = None) -> NodesForm:
    return NodesForm(data, pool_rows(rows))


@require_POST
def change(request: HttpRequest, scenario_id: UUID) -> HttpResponse:
    """Change the selected nodes, or all nodes that match the filter."""
    scenario = scenario_or_404(request, scenario_id)
    form = NodeChangeForm(request.POST)

    def changed(expected: int) -> str:
        typed = form.typed()
        names, action = typed["node"], typed["action"]
        if typed["all"]:
            rows = node_rows(objects_in(scenario, state_of(scenario)))
            names = [row.name for row in _filtered(rows, request.POST)]
        if not names:
            return "No node selected, nothing changed"
        edit: dict[str, Any] = {"scenario": scenario, "names": names, "user": caller(request)}
        if action == "remove":
            done = nodes_remove(expected_revision=expected, **edit)
        else:
            done = nodes_update(patch=form.patch(), expected_revision=expected, **edit)
        return f"{dict(NODE_ACTIONS)[action]}: {len(done)} of {len(names)} nodes changed"

    return _edited(request, scenario, changed, form)


def _edited(
    request: HttpRequest,
    scenario: Scenario,
    make: Callable[[int], str],
    form: NodesForm | NodeChangeForm,
) -> HttpResponse:
    leads_to = reverse("planner:nodes", args=[scenario.pk])
    return edited(request, scenario, make, partial(_page, request, scenario, form=form), leads_to, form)


def _page(
    request: HttpRequest,
    scenario: Scenario,
    changed: Mapping[str, Any] | None = None,
    status: int = 200,
    form: NodesForm | NodeChangeForm | None = None,
) -> HttpResponse:
    rows = node_rows(objects_in(scenario, state_of(scenario)))
    params = request.POST if request.method == "POST" else request.GET
    shown = _filtered(rows, params)
    resources = resource_order({name for row in rows for name in row.amounts})
    imported = _imported(scenario)
    table = ObjectTable(
        shown,
        node_columns(resources),
        request.GET,
        key=node_key,
        before=lambda: {row.name: row for row in imported},
    )
    context = {
        "scenario": scenario,
        "pools": pool_rows(rows),
        "pools_before": {pool.pool: pool for pool in pool_rows(imported)},
        "gone": len({row.name for row in imported} - {row.name for row in rows}),
        "total": len(rows),
        "found": len(shown),
        "table": table,
        "nodes": table.list,
        "resources": resources,
        "params": params,
        "form": form if isinstance(form, NodesForm) else _form(rows),
        "change_form": form if isinstance(form, NodeChangeForm) else NodeChangeForm(),
        **(changed or {}),
    }
    return render(request, "scenarios/nodes.html", context, status=status)


def _imported(scenario: Scenario) -> Sequence[NodeRow]:
    """Return the nodes of the snapshot, empty while the scenario has no changes."""
    if not scenario.object_changes.filter(kind=NODES).exists():
        return []
    return node_rows(objects_in(scenario, state_of_snapshot(scenario.snapshot)))


def _filtered(rows: Sequence[NodeRow], params: Mapping[str, str]) -> list[NodeRow]:
    """Return the nodes of the requested pool and origin whose name, pool, taint or label has the text."""
    text, pool, origin = (
        params.get("filter", "").strip().lower(),
        params.get("pool", ""),
        params.get("origin", ""),
    )
    return [
        row
        for row in rows
        if pool in ("", row.pool) and origin in ("", row.origin) and (not text or text in _searched(row))
    ]


def _searched(row: NodeRow) -> str:
    labels = (f"{key}={value}" for key, value in row.labels.items())
    return " ".join((row.name, row.pool, *row.taints, *labels)).lower()
