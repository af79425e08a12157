"""Creation of forecasts over a frozen input, and wait targets."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.db import transaction

from planner.accounts.models import Event, User
from planner.accounts.services.events import event_note
from planner.accounts.services.members import role_require
from planner.clusters.models import Blob
from planner.clusters.selectors.usage import quota_require
from planner.errors import Invalid, StaleTargets
from planner.forecasts.models import Forecast, WaitTarget, WorkloadTrace
from planner.forecasts.selectors.forecasts import scenario_leaves
from planner.forecasts.selectors.targets import targets_tag, wait_targets
from planner.scenarios.models import Scenario
from planner.scenarios.selectors.scenarios import Frozen, locked_scenario, scenario_frozen
from planner.work.lifecycle import work_enqueue
from planning.forecasts.changes import timed_changes
from planning.forecasts.document import late_problems
from planning.forecasts.options import DEFAULTS, option_problems
from planning.forecasts.trace_texts import queues_for_jobs
from planning.rows import Problem
from planning.suggestions import meant
from planning.units import exact


@dataclass(frozen=True)
class ForecastPlan:
    """A forecast to queue, with the frozen scenario as an unsaved document."""

    scenario: Scenario
    content: Blob
    trace: WorkloadTrace
    options: Mapping[str, Any]


def forecast_create(
    *,
    scenario: Scenario,
    trace: WorkloadTrace,
    options: Mapping[str, Any] | None = None,
    user: User | None = None,
) -> Forecast:
    """Freeze the scenario's current revision and queue a forecast of it under a trace.

    Raises as `forecast_plan` and `forecast_queue` do.
    """
    plan = forecast_plan(scenario=scenario, trace=trace, options=options, user=user)
    return forecast_queue(plan=plan, user=user)


def forecast_plan(
    *,
    scenario: Scenario,
    trace: WorkloadTrace,
    options: Mapping[str, Any] | None = None,
    user: User | None = None,
) -> ForecastPlan:
    """Freeze the scenario's current revision; slow, so call it outside transactions.

    `options`: those of `planning.forecasts.options.DEFAULTS`; the wait targets are the scenario's. Raises
    RoleTooLow, Gone, and Invalid with every problem of the options.
    """
    role_require(user=user, workspace=scenario.workspace)
    if trace.workspace_id != scenario.workspace_id:
        message, fix = "The trace is in another workspace.", "Store it in the workspace of the scenario."
        raise Invalid([Problem("forecast.trace", "error", message, path="trace", fix=fix)])
    effective = {**DEFAULTS, "targets": wait_targets(scenario), **(options or {})}
    frozen = scenario_frozen(scenario)
    options_require(options=effective, trace_queues=trace.queues, frozen=frozen)
    return ForecastPlan(frozen.scenario, Blob.of(frozen.document), trace, effective)


def options_require(*, options: Mapping[str, Any], trace_queues: Mapping[str, int], frozen: Frozen) -> None:
    """Raise Invalid with every problem of the options of a forecast."""
    queues = queues_for_jobs(frozen.state.ordered_queues())
    problems = option_problems(options, trace_queues=trace_queues, queues=queues)
    if options["changes"]:
        document, horizon = json.loads(frozen.document), float(options["horizon_seconds"])
        timed, found = timed_changes(document, options["changes"], str(document.get("now") or ""), horizon)
        problems += [*found, *late_problems(timed, horizon)]
    if problems:
        raise Invalid(problems)


@transaction.atomic
def forecast_queue(*, plan: ForecastPlan, user: User | None = None) -> Forecast:
    """Queue a planned forecast. Raises QuotaExceeded and Gone."""
    workspace = plan.scenario.workspace
    quota_require(workspace=workspace)
    locked_scenario(plan.scenario)
    return work_enqueue(
        Forecast(
            workspace=workspace,
            owner=user,
            scenario=plan.scenario,
            scenario_revision=plan.scenario.revision,
            input=plan.content.keep(),
            trace=plan.trace,
            trace_name=plan.trace.name,
            workload_id=plan.trace.source_id,
            options=plan.options,
        )
    )


def forecast_problems(
    *, scenario: Scenario, trace: WorkloadTrace, options: Mapping[str, Any]
) -> list[Problem]:
    """Return the problems of options, of which some may be absent, except those of timed changes."""
    queues = queues_for_jobs(scenario_frozen(scenario)[1].ordered_queues())
    return option_problems({"targets": {}, **options}, trace_queues=trace.queues, queues=queues)


@transaction.atomic
def targets_set(
    *, scenario: Scenario, targets: Mapping[str, float], expected: str, user: User | None = None
) -> None:
    """Replace the wait targets of a scenario; existing forecasts keep their own.

    `expected` is the tag of the targets that the edit is based on. Raises StaleTargets if they have changed,
    and Invalid as `targets_change` does.
    """
    locked_scenario(scenario)
    present = wait_targets(scenario)
    if targets_tag(present) != expected:
        raise StaleTargets
    targets_change(scenario=scenario, targets={**dict.fromkeys(present), **targets}, user=user)


@transaction.atomic
def targets_change(
    *, scenario: Scenario, targets: Mapping[str, float | None], user: User | None = None
) -> None:
    """Set the wait targets of these queues, None removes one; those of other queues are unchanged.

    Raises Gone, and Invalid for a target of a queue that takes no jobs in the scenario.
    """
    role_require(user=user, workspace=scenario.workspace)
    locked_scenario(scenario)
    if problems := _unknown_targets(scenario, targets):
        raise Invalid(problems)
    before = wait_targets(scenario)
    scenario.wait_targets.filter(queue__in=targets).delete()
    WaitTarget.objects.bulk_create(
        [
            WaitTarget(scenario=scenario, queue=queue, seconds=seconds)
            for queue, seconds in sorted(targets.items())
            if seconds is not None
        ],
        update_conflicts=True,
        unique_fields=["scenario", "queue"],
        update_fields=["seconds"],
    )
    if (after := wait_targets(scenario)) != before:
        event_note(
            workspace=scenario.workspace,
            user=user,
            kind=Event.Kind.SCENARIO,
            action="changed",
            subject=f"wait targets of {scenario.name}",
            before=_targets_text(before),
            after=_targets_text(after),
        )


def _targets_text(targets: Mapping[str, float]) -> str:
    return ", ".join(f"{queue} {exact(seconds)} s" for queue, seconds in targets.items())


def _unknown_targets(scenario: Scenario, targets: Mapping[str, float | None]) -> list[Problem]:
    wanted = sorted(queue for queue, seconds in targets.items() if seconds is not None)
    leaves = scenario_leaves(scenario) if wanted else []
    return [
        Problem(
            "target.queue", "error", f"There is no leaf queue {queue!r}.", path=f"targets.{queue}",
            actual=queue, fix=meant(queue, leaves),
        )
        for queue in wanted
        if queue not in leaves
    ]  # fmt: skip


def targets_copy(*, source: Scenario, target: Scenario) -> None:
    """Copy the wait targets of one scenario to another."""
    WaitTarget.objects.bulk_create(
        WaitTarget(scenario=target, queue=wanted.queue, seconds=wanted.seconds)
        for wanted in source.wait_targets.all()
    )
