"""The list of workers, each of which reports at intervals."""

import os
import socket
from datetime import datetime, timedelta

from django.conf import settings
from django.utils import timezone

from planner.work.models import Worker
from planning.version import ENGINE_VERSION

FORGOTTEN = timedelta(days=1)
"""A worker that has not reported for so long is deleted."""


def worker_name(pid: int | None = None) -> str:
    """Return the name under which a worker process of this machine claims work."""
    return f"{socket.gethostname()}:{pid or os.getpid()}"


def worker_report(*, name: str, started: datetime) -> None:
    """Record that a worker is alive; delete those that are long gone."""
    now = timezone.now()
    Worker.objects.update_or_create(
        name=name,
        defaults={
            "started": started,
            "seen": now,
            "places": settings.CELERY_WORKER_CONCURRENCY,
            "engine_version": ENGINE_VERSION,
        },
    )
    Worker.objects.filter(seen__lt=now - FORGOTTEN).delete()


def worker_delete(*, name: str) -> None:
    """Delete a worker that is shutting down."""
    Worker.objects.filter(name=name).delete()


def is_worker_alive(host: str) -> bool:
    """Return whether a worker of this machine has reported lately."""
    return Worker.objects.filter(name__startswith=f"{host}:", seen__gt=alive_since()).exists()


def alive_since() -> datetime:
    """Return the time since which a worker that is alive must have reported."""
    return timezone.now() - timedelta(seconds=3 * settings.RUN_SWEEP_SECONDS + 5)
