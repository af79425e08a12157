"""How do workers learn that something waits? By a message that names nothing; the rows hold what waits."""

import logging

from celery import current_app
from kombu.exceptions import OperationalError

logger = logging.getLogger(__name__)

# The name that workers of the release before know, so that both can run during an upgrade.
DRAIN_QUEUE = "planner.work.tasks.do_waiting_work"


def notify_workers() -> None:
    """Tell the workers that something waits. While the broker is away they see it when they look."""
    try:
        current_app.send_task(DRAIN_QUEUE, ignore_result=True, retry=False)
    except (OperationalError, OSError):
        logger.warning(
            "The broker did not accept the task; a worker finds the queued work when it next polls."
        )
