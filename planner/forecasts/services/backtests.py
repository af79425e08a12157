"""Backtests: the predicted starts of jobs compared with those in a later snapshot of the cluster."""

from django.db import transaction

from planner.accounts.models import User
from planner.accounts.services.members import role_require
from planner.clusters.models import Snapshot
from planner.errors import Invalid
from planner.forecasts.models import Backtest, Forecast
from planner.forecasts.selectors.forecasts import record_of
from planning.forecasts.backtest import backtest, plain, real_jobs
from planning.forecasts.clock import instant
from planning.rows import Problem


def backtest_create(*, forecast: Forecast, snapshot: Snapshot, user: User | None = None) -> Backtest:
    """Compare a succeeded forecast with a later snapshot; an earlier comparison is replaced.

    Raises RoleTooLow, and Invalid if one of the two has no time, or if the snapshot is not later or in
    another workspace.
    """
    role_require(user=user, workspace=forecast.workspace)
    if snapshot.workspace_id != forecast.workspace_id:
        raise _refused("The snapshot is in another workspace.", "Import it into that of the forecast.")
    record, document = record_of(forecast), snapshot.content.document()
    until = _seconds_between(record.begin, str(document.get("now") or ""))
    scenario = forecast.input.document()
    found = backtest(record, real_jobs(document, record.begin), until, document, scenario)
    with transaction.atomic():
        made, _ = Backtest.objects.update_or_create(
            forecast=forecast,
            snapshot=snapshot,
            defaults={
                "snapshot_name": snapshot.name,
                "owner": user,
                "until_seconds": until,
                "result": plain(found),
            },
        )
    return made


def _seconds_between(begin: str, later: str) -> float:
    """Return how much later a snapshot is than the beginning of a forecast."""
    first, last = instant(begin), instant(later)
    if first is None or last is None:
        which = "forecast" if first is None else "snapshot"
        raise _refused(f"The {which} does not say its time.", "Import a cluster with the key now.")
    seconds = (last - first).total_seconds()
    if seconds <= 0:
        raise _refused("The snapshot is not later than the beginning of the forecast.", "Choose a later one.")
    return seconds


def _refused(message: str, fix: str) -> Invalid:
    return Invalid([Problem("backtest.time", "error", message, path="snapshot", fix=fix)])
