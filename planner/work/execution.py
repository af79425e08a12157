"""What does a worker do with one piece of work, from claim to end?"""

import logging
import os
import socket
import threading
from typing import Any

import structlog
from django.db import DatabaseError, connection

from planner.work.kinds import steps
from planner.work.lifecycle import Claim, work_claim, work_fail, work_killed
from planner.work.subprocess_runner import ChildFailed, ChildKilled, ChildStopped
from planner.work.turns import Turn, turn_claim
from planner.work.watch import Watch, retry_on_db_error

logger = logging.getLogger(__name__)


def worker_name(pid: int | None = None) -> str:
    """Return the name under which a worker process of this machine claims work."""
    return f"{socket.gethostname()}:{pid or os.getpid()}"


def next_execute(*, worker: str, stopping: threading.Event) -> bool:
    """Claim the work whose turn it is and do it; was there something to claim?"""
    claim = turn_claim(worker=worker)
    if claim is not None:
        claim_execute(claim=claim, stopping=stopping)
    return claim is not None


def work_execute(*, turn: Turn, worker: str, stopping: threading.Event) -> bool:
    """Claim this queued work and do it; was there something to claim?"""
    claim: Claim[Any] | None = work_claim(kind=turn.kind, id=turn.id, worker=worker)
    if claim is not None:
        claim_execute(claim=claim, stopping=stopping)
    return claim is not None


def claim_execute(*, claim: Claim[Any], stopping: threading.Event) -> None:
    """Do claimed work in a child process and store how it ended.

    When `stopping` is set the child is killed and the work put back for another worker.
    """
    with structlog.contextvars.bound_contextvars(
        **{claim.kind.kind_name(): str(claim.id)}, attempt=claim.attempt
    ):
        _execute(claim, Watch(claim, stopping))


def _execute(claim: Claim[Any], watch: Watch) -> None:
    kind = claim.kind.kind_name()
    try:
        steps()[claim.kind](claim, watch)
    except ChildStopped:
        retry_on_db_error(watch.end)
    except ChildKilled as error:
        killed = str(error)
        logger.warning("The child of the %s was killed.", kind)
        retry_on_db_error(lambda: work_killed(claim=claim, error=killed))
    except ChildFailed as error:
        reason = str(error)
        retry_on_db_error(lambda: work_fail(claim=claim, error=reason))
    except DatabaseError:
        connection.close()
        logger.warning(
            "The database is unavailable; a worker picks up the %s again when the lease has expired.", kind
        )
    except Exception:
        logger.exception("The %s failed unexpectedly.", kind)
        retry_on_db_error(
            lambda: work_fail(claim=claim, error=f"The {kind} failed unexpectedly; see the worker's log.")
        )
