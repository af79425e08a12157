"""What is done elsewhere, and who sends it there?"""

import logging
from collections.abc import Mapping
from typing import Any
from uuid import UUID

from celery import shared_task
from django.contrib.auth.models import AbstractBaseUser
from django.db import transaction
from kombu.exceptions import OperationalError

from planner.models import Run, Scenario
from planner.services.runs import run_create

logger = logging.getLogger(__name__)


def submit_run(
    *, scenario: Scenario, options: Mapping[str, Any] | None = None, user: AbstractBaseUser | None = None
) -> Run:
    """Queue a run of the scenario's present revision and, once the row is visible to workers, kick one."""
    run = run_create(scenario=scenario, options=options, user=user)
    transaction.on_commit(lambda: kick(run.pk))
    return run


def kick(run_id: UUID) -> None:
    """Tell a worker about a queued run. A broker that is away loses nothing: recovery kicks again."""
    try:
        execute_run.apply_async((str(run_id),), retry=False)
    except (OperationalError, OSError):
        logger.warning("The broker did not take the kick of run %s; recovery will repeat it.", run_id)


@shared_task(ignore_result=True)
def execute_run(run_id: str) -> None:
    """Execute one run. The row, not the message, holds state and result."""
