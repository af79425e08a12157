"""Notification of the workers: messages carry no work, the rows do."""

import logging

logger = logging.getLogger(__name__)

# The name that workers of the previous release know, so that both can run during an upgrade.
DRAIN_QUEUE = "planner.work.tasks.do_waiting_work"


def notify_workers() -> None:
    """Notify the workers of queued work. While the broker is unavailable they find it when they next poll.

    Celery is imported here, as most commands queue nothing, and it takes a fifth of their start.
    """
    from kombu.exceptions import OperationalError

    from config.celery import app

    try:
        app.send_task(DRAIN_QUEUE, ignore_result=True, retry=False)
    except (OperationalError, OSError):
        logger.warning(
            "The broker did not accept the task; a worker finds the queued work when it next polls."
        )
