"""Execution of queued work within a test, as a worker does it."""

import threading
from typing import TypeVar

from planner.work.execution import claim_execute, work_execute_next
from planner.work.lifecycle import work_claim
from planner.work.models import Work

Kind = TypeVar("Kind", bound=Work)


def do_work(work: Kind, *, stopping: threading.Event | None = None) -> Kind:
    """Claim queued work and execute it; return it refreshed."""
    claim = work_claim(kind=type(work), id=work.pk, worker="here")
    assert claim is not None, "nothing to claim"
    claim_execute(claim=claim, stopping=stopping or threading.Event())
    work.refresh_from_db()
    return work


def do_while_stopping(work: Kind) -> Kind:
    """Claim queued work while the worker is stopping."""
    stopping = threading.Event()
    stopping.set()
    return do_work(work, stopping=stopping)


def do_all_work(stopping: threading.Event | None = None) -> None:
    """Execute queued work in its order until none is left."""
    while work_execute_next(worker="here", stopping=stopping or threading.Event()):
        pass
