"""Scenarios created from a moment of a forecast."""

import json

from django.conf import settings
from django.db import transaction

from planner.accounts.models import User
from planner.accounts.services.members import role_require
from planner.clusters.selectors.usage import quota_require
from planner.clusters.services.snapshots import snapshot_create
from planner.errors import Invalid
from planner.forecasts.models import Forecast
from planner.forecasts.services.forecasts import targets_copy
from planner.forecasts.services.replays import replayed
from planner.scenarios.models import Scenario
from planner.scenarios.selectors.scenarios import locked_scenario
from planner.scenarios.services.scenarios import scenario_create
from planner.work.awaited import Cost, Turn, awaited, go_on
from planning.documents import items
from planning.forecasts.clock import moment_of
from planning.rows import Problem
from planning.search import conf_text
from planning.states import KINDS, QUEUES
from planning.units import exact

OPENING = Turn("opening another moment")


def moment_open(*, forecast: Forecast, at: float, name: str = "", user: User | None = None) -> Scenario:
    """Create a scenario of the cluster as the first session at or after `at` finds it.

    The scenario is a branch of the forecast's scenario, on a snapshot of that moment. Raises RoleTooLow,
    QuotaExceeded, Busy while this process opens another moment, Gone, and Invalid if it cannot be replayed.
    """
    role_require(user=user, workspace=forecast.workspace)
    quota_require(workspace=forecast.workspace)
    document = moment_document(forecast, at)
    original = forecast.input.document()
    message = moment_of(at, str(original.get("now") or ""))
    called = (name or f"{forecast.scenario.name} at {message}")[:253]
    # The configuration stays as its user wrote it, unless a change of the forecast replaced it.
    is_replaced = any("scheduler_conf" in change for change in forecast.options["changes"])
    conf = document.get("scheduler_conf") if is_replaced else original.get("scheduler_conf")
    with transaction.atomic():
        locked_scenario(forecast.scenario)
        snapshot = snapshot_create(
            workspace=forecast.workspace,
            name=called,
            document=document,
            scheduler_conf=conf_text(conf) if conf else "",
            counts={kind: len(items(document[kind])) for kind in (QUEUES, *KINDS) if document.get(kind)},
            provenance=f"forecast {forecast.pk} at {exact(at)} s ({message})"[:500],
            cluster=forecast.scenario.name,
            owner=user,
        )
        scenario = scenario_create(snapshot=snapshot, name=called, owner=user)
        scenario.parent, scenario.parent_revision = forecast.scenario, forecast.scenario_revision
        scenario.save(update_fields=["parent", "parent_revision"])
        targets_copy(source=forecast.scenario, target=scenario)
    return scenario


def moment_document(forecast: Forecast, at: float) -> dict[str, object]:
    """Return the cluster at a moment as a scenario document, replayed in a child process."""
    if not 0 <= at <= forecast.horizon_seconds:
        message = f"{exact(at)} s is not within the forecast."
        fix = f"Choose 0 to {exact(forecast.horizon_seconds)} s."
        raise Invalid([Problem("forecast.moment", "error", message, path="at", actual=at, fix=fix)])
    cost = Cost("forecast.moment", "at", "Choose an earlier moment.")
    with (
        awaited(cost, turn=OPENING, memory_mb=settings.RUN_MEMORY_MB) as limits,
        replayed(forecast, limits=limits, beat=go_on, moment=at) as (_, result),
    ):
        document: dict[str, object] = json.loads(result.read())
        return document
