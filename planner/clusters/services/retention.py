"""Removal of old work, and of rows that nothing refers to."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet
from django.utils import timezone
from knox.models import AuthToken

from planner.accounts.models import Workspace
from planner.accounts.services.logins import expired_guesses_remove
from planner.accounts.services.sessions import expired_sessions_remove
from planner.api.models import IdempotencyKey
from planner.clusters.models import Import, ImportPreview
from planner.clusters.selectors.usage import unreferenced_blobs, usage
from planner.clusters.services.deletion import unreferenced_outcomes_delete
from planner.clusters.services.snapshots import PREVIEWS_KEPT, previews_remove
from planner.experiments.models import Experiment
from planner.forecasts.models import Forecast, ForecastPart
from planner.runs.models import Run
from planner.scenarios.models import Rebase, Scenario
from planner.work.models import Tally
from planner.work.tallies import tally

KEYS_KEPT = timedelta(days=1)
BLOBS_KEPT = timedelta(days=1)
"""Blobs without references may be about to get one, so young ones stay."""
AT_ONCE = 200
FEW = 10


@dataclass(frozen=True)
class Removed:
    """The number of removed rows by kind."""

    runs: int
    forecasts: int
    experiments: int
    imports: int
    blobs: int
    keys: int
    tokens: int


def old_runs_remove(*, keep: timedelta) -> Removed:
    """Remove work that ended longer ago than `keep`, the oldest runs of full workspaces, and leftovers.

    Each scenario keeps its last run, forecast and experiment; removed scenarios are deleted after `keep`.

    Of imports only the files and the row are removed: the snapshot stays.
    """
    now = timezone.now()
    runs = _removed_in_steps(_old_runs(ended_before=now - keep)) + _runs_beyond_size_remove(now)
    _removed_in_steps(Scenario.objects.filter(removed__lt=now - keep))
    unreferenced_outcomes_delete()
    tally(Tally.REMOVED_RUNS, runs)
    forecasts = _removed_in_steps(_old_forecasts(ended_before=now - keep))
    experiments = _removed_in_steps(_old_experiments(ended_before=now - keep))
    ForecastPart.objects.filter(part=ForecastPart.FROZEN, forecast__state__in=Forecast.OVER).delete()
    imports = _removed_in_steps(Import.objects.filter(finished__lt=now - keep))
    Import.objects.filter(state__in=Import.OVER).exclude(files=None).update(files=None)
    _removed_in_steps(Rebase.objects.filter(finished__lt=now - keep))
    expired_guesses_remove()
    expired_sessions_remove()
    previews_remove(ImportPreview.objects.filter(created__lte=now - PREVIEWS_KEPT))
    expired = AuthToken.objects.filter(expiry__lt=now)
    keys = IdempotencyKey.objects.filter(created__lt=now - KEYS_KEPT)
    return Removed(
        runs=runs,
        forecasts=forecasts,
        experiments=experiments,
        imports=imports,
        blobs=_removed_in_steps(unreferenced_blobs().filter(created__lt=now - BLOBS_KEPT)),
        keys=keys.delete()[0],
        tokens=expired.delete()[0],
    )


def _runs_beyond_size_remove(now: datetime) -> int:
    """Remove the oldest runs of workspaces whose runs exceed their limit; return how many."""
    removed = 0
    limit = settings.KEEP_RUNS_MB * 1e6
    for workspace in Workspace.objects.all() if limit else ():
        while usage(workspace).runs > limit:
            oldest = _old_runs(ended_before=now).filter(workspace=workspace).order_by("finished")
            went = list(oldest.values_list("pk", flat=True)[:FEW])
            if not went:
                break
            Run.objects.filter(pk__in=went).delete()
            unreferenced_outcomes_delete()
            removed += len(went)
    return removed


def _old_runs(*, ended_before: datetime) -> QuerySet[Run]:
    later = Run.objects.filter(scenario=OuterRef("scenario"), created__gt=OuterRef("created"), explains=None)
    return Run.objects.filter(finished__lt=ended_before).filter(Exists(later))


def _old_forecasts(*, ended_before: datetime) -> QuerySet[Forecast]:
    later = Forecast.objects.filter(scenario=OuterRef("scenario"), created__gt=OuterRef("created"))
    return Forecast.objects.filter(finished__lt=ended_before).filter(Exists(later))


def _old_experiments(*, ended_before: datetime) -> QuerySet[Experiment]:
    later = Experiment.objects.filter(scenario=OuterRef("scenario"), created__gt=OuterRef("created"))
    return Experiment.objects.filter(finished__lt=ended_before).filter(Exists(later))


def _removed_in_steps(rows: QuerySet[Any]) -> int:
    """Remove rows in small steps, so that others can write in between; return how many."""
    removed = 0
    while True:
        with transaction.atomic():
            some = list(rows.values_list("pk", flat=True)[:AT_ONCE])
            # Filtered again in the same query: a row may have been used since.
            rows.filter(pk__in=some).delete()
        removed += len(some)
        if len(some) < AT_ONCE:
            return removed
