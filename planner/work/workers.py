"""Which workers live, and who says so?"""

import os
import socket
from datetime import datetime, timedelta

from django.conf import settings
from django.utils import timezone

from planner.work.models import Worker
from planning.version import ENGINE_VERSION

FORGOTTEN = timedelta(days=1)
"""A worker that was not seen for so long is dropped from the list."""


def worker_name(pid: int | None = None) -> str:
    """Return the name under which a worker process of this machine claims work."""
    return f"{socket.gethostname()}:{pid or os.getpid()}"


def worker_seen(*, name: str, started: datetime) -> None:
    """Keep that a worker lives; drop those that are long gone."""
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


def worker_gone(*, name: str) -> None:
    """Forget a worker that has said goodbye."""
    Worker.objects.filter(name=name).delete()


def is_worker_alive(host: str) -> bool:
    """Has a worker of this machine been seen lately?"""
    return Worker.objects.filter(name__startswith=f"{host}:", seen__gt=alive_since()).exists()


def alive_since() -> datetime:
    """Return since when a living worker has been seen: it says so at every sweep."""
    return timezone.now() - timedelta(seconds=3 * settings.RUN_SWEEP_SECONDS + 5)
