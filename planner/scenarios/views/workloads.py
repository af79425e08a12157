"""Which jobs does a scenario have, and how are they added, changed and removed on their tab?"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any
from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from planner.scenarios.models import Scenario
from planner.scenarios.selectors.revisions import objects_in, state_of, state_of_snapshot
from planner.scenarios.selectors.workloads import imported_workload_rows, workload_rows
from planner.scenarios.services.workloads import (
    job_add,
    workload_copy,
    workload_remove,
    workload_update,
    workloads_add,
)
from planner.scenarios.views.editing import edited
from planner.scenarios.views.object_tables import ObjectTable, workload_columns, workload_key
from planner.web.templatetags.quantities import resource_order
from planner.web.views.found import scenario_or_404
from planner.web.views.pages import caller, whole_number
from planning.reach.questions import PLACED
from planning.workloads import WorkloadRow, Workloads

WHOLE = ("replicas", "minMember")
TEXTS = ("queue", "priorityClassName")
RESOURCES = ("cpu", "memory", "nvidia.com/gpu")


@login_required
@require_GET
def show(request: HttpRequest, scenario_id: UUID) -> HttpResponse:
    """Show the workloads."""
    return _page(request, scenario_or_404(request, scenario_id))


@login_required
@require_POST
def add(request: HttpRequest, scenario_id: UUID) -> HttpResponse:
    """Add a job by its fields, or what a text holds."""
    scenario = scenario_or_404(request, scenario_id)
    text = request.POST.get("documents", "")
    edit: dict[str, Any] = {"scenario": scenario, "user": caller(request)}

    def added(expected: int) -> str:
        if "documents" in request.POST:
            touched = workloads_add(text=text, expected_revision=expected, **edit)
        else:
            fields = {
                name: value for name in ("name", "namespace") if (value := request.POST.get(name, "").strip())
            }
            fields = fields | _typed(request.POST, _resources(request.POST))
            touched = job_add(fields=fields, expected_revision=expected, **edit)
        return f"{len(touched)} object{'' if len(touched) == 1 else 's'} added"

    return _edited(request, scenario, added)


@login_required
@require_http_methods(["GET", "POST"])
def workload(request: HttpRequest, scenario_id: UUID, kind: str, namespace: str, name: str) -> HttpResponse:
    """Show one workload with its fields, change it, copy it or remove it."""
    scenario = scenario_or_404(request, scenario_id)
    key = f"{namespace}/{name}"
    row = Workloads(objects_in(scenario, state_of(scenario))).row(kind, key)
    if row is None:
        raise Http404
    if request.method == "GET":
        return _one(request, scenario, row)
    edit: dict[str, Any] = {"scenario": scenario, "kind": kind, "key": key, "user": caller(request)}

    def changed(expected: int) -> str:
        if "copy" in request.POST:
            number = whole_number(request.POST.get("count", ""))
            workload_copy(count=number, expected_revision=expected, **edit)
            return f"{key} copied {number} times" if number > 1 else f"{key} copied"
        if "remove" in request.POST:
            workload_remove(expected_revision=expected, **edit)
            return f"{key} removed"
        fields = _typed(request.POST, _resources(request.POST), row)
        workload_update(fields=fields, expected_revision=expected, **edit)
        return f"{key} saved"

    return _edited(request, scenario, changed, row)


def _resources(typed: Mapping[str, str]) -> list[str]:
    """Return the resources whose requests were sent, the one that was named last among them."""
    sent = [name.removeprefix("requests.") for name in typed if name.startswith("requests.")]
    return [*sent, *([typed["resource"].strip()] if typed.get("resource", "").strip() else [])]


def _typed(
    typed: Mapping[str, str], resources: Sequence[str], row: WorkloadRow | None = None
) -> dict[str, Any]:
    """Return the fields that were typed, of a workload that is there only those that are other ones.

    A text that is no number stays a text, for the service to refuse with its reason.
    """
    present = _present(row) if row else {}
    fields: dict[str, Any] = {}
    for name in (*TEXTS, *WHOLE):
        text = typed.get(name, "").strip()
        if name in typed and text != present.get(name, ""):
            fields[name] = int(text) if name in WHOLE and text.isdecimal() else text
    requests = {
        resource: typed.get(f"requests.{resource}", typed.get("amount", "")).strip() or None
        for resource in resources
    }
    had = row.requests if row else {}
    if other := {name: value for name, value in requests.items() if value != had.get(name)}:
        fields["requests"] = other if row else {name: value for name, value in other.items() if value}
    return fields


def _present(row: WorkloadRow) -> dict[str, str]:
    return {
        "queue": row.queue,
        "priorityClassName": row.priority_class,
        "minMember": str(row.min_member),
        "replicas": str(row.replicas),
    }


def _edited(
    request: HttpRequest, scenario: Scenario, make: Callable[[int], str], row: WorkloadRow | None = None
) -> HttpResponse:
    page = partial(_one, request, scenario, row) if row else partial(_page, request, scenario)
    return edited(request, scenario, make, page, reverse("planner:workloads", args=[scenario.pk]))


def _one(
    request: HttpRequest,
    scenario: Scenario,
    row: WorkloadRow,
    changed: Mapping[str, Any] | None = None,
    status: int = 200,
) -> HttpResponse:
    typed = {name: request.POST.get(name, text) for name, text in _present(row).items()}
    names = resource_order({*row.requests, "cpu", "memory"})
    context = {
        "scenario": scenario,
        "row": row,
        "typed": typed,
        "requests": [
            (name, request.POST.get(f"requests.{name}", row.requests.get(name, ""))) for name in names
        ],
        "queues": _queue_names(scenario),
        "params": {"figure": PLACED, "job": row.key},
        **(changed or {}),
    }
    return render(request, "scenarios/workload.html", context, status=status)


def _page(
    request: HttpRequest, scenario: Scenario, changed: Mapping[str, Any] | None = None, status: int = 200
) -> HttpResponse:
    rows = workload_rows(scenario, objects_in(scenario, state_of(scenario)))
    params = request.GET
    found = [row for row in rows if _matches(row, params)]
    resources = resource_order({name for row in found for name in row.amounts})
    table = ObjectTable(
        found, workload_columns(resources), params, key=workload_key, before=lambda: _imported(scenario)
    )
    context = {
        "scenario": scenario,
        "table": table,
        "workloads": table.list,
        "total": len(rows),
        "found": len(found),
        "queues": _queue_names(scenario),
        "typed_resources": RESOURCES,
        "params": params,
        "typed": request.POST,
        **(changed or {}),
    }
    return render(request, "scenarios/workloads.html", context, status=status)


def _imported(scenario: Scenario) -> dict[str, WorkloadRow]:
    """Return the workloads of the snapshot by what tells them apart."""
    objects = objects_in(scenario, state_of_snapshot(scenario.snapshot))
    return {workload_key(row): row for row in imported_workload_rows(scenario.snapshot, objects)}


def _queue_names(scenario: Scenario) -> list[str]:
    return list(scenario.queues.order_by("name").values_list("name", flat=True))


def _matches(row: WorkloadRow, params: Mapping[str, str]) -> bool:
    text = params.get("filter", "").strip().lower()
    return (
        (not text or text in row.key.lower())
        and params.get("queue", "") in ("", row.queue)
        and params.get("origin", "") in ("", row.origin)
        and (params.get("waits", "") != "yes" or row.pending > 0)
    )
