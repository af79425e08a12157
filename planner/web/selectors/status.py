"""The status of the installation."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import Avg, Count, F, Min
from django.utils import timezone

from planner.backups.models import Backup
from planner.clusters.models import Import
from planner.forecasts.models import Forecast
from planner.runs.models import Run
from planner.work.models import Tally, Work, Worker
from planner.work.workers import alive_since

State = Work.State
RECENTLY = timedelta(minutes=5)
"""The period of throughput and durations."""


@dataclass(frozen=True)
class Status:
    """Queued and running work, and the workers. Times are in seconds."""

    runs: dict[str, int]
    """Number of stored runs, by state; every state is there."""
    imports: dict[str, int]
    """The same of imports that workers read."""
    forecasts: dict[str, int]
    """The same of forecasts."""
    oldest_queued_seconds: float
    """The waiting time of the oldest queued run, forecast or import; 0 if none is queued."""
    finished_per_minute: float
    """Runs finished per minute, over the last five minutes."""
    mean_wait_seconds: float | None
    """From queued to started, of runs that ended in the last five minutes; None without such runs."""
    mean_run_seconds: float | None
    """From started to the end, of the same runs."""
    lost_leases: int
    """How often work was requeued from a dead worker, since the installation began."""
    retries: int
    """How often work was queued again after its worker or child process had died, since then."""
    removed_runs: int
    """How many old runs were removed, since the installation began."""
    keep_runs_days: float
    """How long an ended run is stored."""
    backup_hours: float | None
    """How often a verified backup is made; None: none are scheduled."""
    backup: Backup | None
    """The last verified backup, scheduled or not."""
    backup_error: str
    """Why the last attempt failed; empty if it did not."""
    workers: list[Worker]
    """The workers seen recently."""

    @property
    def places(self) -> int:
        """Return how many runs and imports can run at once."""
        return sum(worker.places for worker in self.workers)


def status() -> Status:
    """Return the state of queue and workers (11 queries)."""
    now = timezone.now()
    tallies = dict(Tally.objects.values_list("name", "count"))
    oldest = min(filter(None, map(_oldest_queued, (Run, Forecast, Import))), default=None)
    recent = Run.objects.filter(finished__gt=now - RECENTLY, started__isnull=False).aggregate(
        count=Count("pk"), wait=Avg(F("started") - F("created")), run=Avg(F("finished") - F("started"))
    )
    return Status(
        runs=_by_state(Run),
        imports=_by_state(Import),
        forecasts=_by_state(Forecast),
        oldest_queued_seconds=(now - oldest).total_seconds() if oldest else 0.0,
        finished_per_minute=recent["count"] / (RECENTLY / timedelta(minutes=1)),
        mean_wait_seconds=_seconds(recent["wait"]),
        mean_run_seconds=_seconds(recent["run"]),
        lost_leases=tallies.get(Tally.LOST_LEASES, 0),
        retries=tallies.get(Tally.RETRIES, 0),
        removed_runs=tallies.get(Tally.REMOVED_RUNS, 0),
        keep_runs_days=settings.KEEP_RUNS_DAYS,
        backup_hours=settings.BACKUP_HOURS if settings.BACKUP_DIR else None,
        backup=Backup.objects.filter(verified=True).first(),
        backup_error=Backup.objects.exclude(ended=None).values_list("error", flat=True).first() or "",
        workers=list(Worker.objects.filter(seen__gt=alive_since())),
    )


def _by_state(kind: type[Work]) -> dict[str, int]:
    counts = dict(kind._default_manager.order_by().values_list("state").annotate(count=Count("pk")))
    return {state: counts.get(state, 0) for state in State.values}


def _oldest_queued(kind: type[Work]) -> datetime | None:
    queued = kind._default_manager.filter(state=State.QUEUED)
    oldest: datetime | None = queued.aggregate(oldest=Min("created"))["oldest"]
    return oldest


def _seconds(duration: timedelta | None) -> float | None:
    return duration.total_seconds() if duration is not None else None
