"""The tab with the workloads of a scenario, and the page of one workload."""

from collections.abc import Mapping
from functools import partial
from typing import Any
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from planner.scenarios.forms.objects import CopyForm, JobForm, ManifestsForm, WorkloadForm
from planner.scenarios.forms.reach import ReachForm
from planner.scenarios.models import Scenario
from planner.scenarios.selectors.scenarios import objects_in, state_of, state_of_snapshot
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
from planner.web.templatetags.quantities import counted, resource_order
from planner.web.views.found import scenario_or_404
from planner.web.views.pages import caller
from planning.nodes import offered_resources
from planning.reach.questions import PLACED
from planning.workloads import WorkloadRow, Workloads


@require_GET
def show(request: HttpRequest, scenario_id: UUID) -> HttpResponse:
    """Show the workloads."""
    return _page(request, scenario_or_404(request, scenario_id))


@require_POST
def add(request: HttpRequest, scenario_id: UUID) -> HttpResponse:
    """Add a job by its fields, or the workloads of a text."""
    scenario = scenario_or_404(request, scenario_id)
    is_text = "documents" in request.POST
    text = ManifestsForm(request.POST if is_text else None)
    job = JobForm(None if is_text else request.POST, _queue_names(scenario))

    def added(expected: int) -> str:
        edit: dict[str, Any] = {"scenario": scenario, "expected_revision": expected, "user": caller(request)}
        if is_text:
            touched = workloads_add(text=text.typed()["documents"], **edit)
        else:
            touched = job_add(fields=job.typed_job(), **edit)
        return f"{counted(len(touched), 'object')} added"

    page = partial(_page, request, scenario, text=text, job=None if is_text else job)
    return edited(request, scenario, added, page, _address(scenario), text if is_text else job)


@require_http_methods(["GET", "POST"])
def workload(request: HttpRequest, scenario_id: UUID, kind: str, namespace: str, name: str) -> HttpResponse:
    """Show one workload with its fields; change it, copy it or remove it."""
    scenario = scenario_or_404(request, scenario_id)
    key = f"{namespace}/{name}"
    row = Workloads(objects_in(scenario, state_of(scenario))).row(kind, key)
    if row is None:
        raise Http404
    shown = WorkloadPage(request, scenario, row)
    if request.method == "GET":
        return shown.page({})
    return edited(request, scenario, shown.change, shown.page, _address(scenario), shown.form)


class WorkloadPage:
    """One workload: its fields, the form of its copies, and the entered values."""

    def __init__(self, request: HttpRequest, scenario: Scenario, row: WorkloadRow) -> None:
        self.request, self.scenario, self.row = request, scenario, row
        self.is_removal = "remove" in request.POST
        sent = request.POST if request.method == "POST" and not self.is_removal else None
        is_copy = "copy" in request.POST
        self.copies = CopyForm(sent if is_copy else None)
        self.fields = WorkloadForm(None if is_copy else sent, row, _queue_names(scenario))
        self.form = next((form for form in (self.copies, self.fields) if form.is_bound), None)

    def change(self, expected: int) -> str:
        """Make the requested change at its revision, and return what was done."""
        key = self.row.key
        edit: dict[str, Any] = {
            "scenario": self.scenario,
            "kind": self.row.kind,
            "key": key,
            "expected_revision": expected,
            "user": caller(self.request),
        }
        if self.is_removal:
            workload_remove(**edit)
            return f"{key} removed"
        if self.copies.is_bound:
            number = self.copies.typed()["count"]
            workload_copy(count=number, **edit)
            return f"{key} copied {number} times" if number > 1 else f"{key} copied"
        workload_update(fields=self.fields.changes(), **edit)
        return f"{key} saved"

    def page(self, changed: Mapping[str, Any], status: int = 200) -> HttpResponse:
        """Return the page, with the context of a change."""
        reached = {"figure": PLACED, "job": self.row.key}
        context = {
            "scenario": self.scenario,
            "row": self.row,
            "form": self.fields,
            "copies": self.copies,
            "params": reached,
            "reach": ReachForm(reached),
            **changed,
        }
        return render(self.request, "scenarios/workload.html", context, status=status)


def _address(scenario: Scenario) -> str:
    return reverse("planner:workloads", args=[scenario.pk])


def _page(
    request: HttpRequest,
    scenario: Scenario,
    changed: Mapping[str, Any] | None = None,
    status: int = 200,
    *,
    text: ManifestsForm | None = None,
    job: JobForm | None = None,
) -> HttpResponse:
    objects = objects_in(scenario, state_of(scenario))
    rows = workload_rows(scenario, objects)
    params = request.GET
    found = [row for row in rows if _matches(row, params)]
    resources = resource_order({name for row in found for name in row.amounts})
    queues = _queue_names(scenario)
    table = ObjectTable(
        found, workload_columns(resources), params, key=workload_key, before=lambda: _imported(scenario)
    )
    context = {
        "scenario": scenario,
        "table": table,
        "workloads": table.list,
        "total": len(rows),
        "found": len(found),
        "queues": queues,
        "params": params,
        "job_form": job or JobForm(None, queues, offered_resources(objects)),
        "text_form": text or ManifestsForm(),
        **(changed or {}),
    }
    return render(request, "scenarios/workloads.html", context, status=status)


def _imported(scenario: Scenario) -> dict[str, WorkloadRow]:
    """Return the workloads of the snapshot by key."""
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
