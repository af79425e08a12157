"""The decisions of Volcano, in one session and in several in a row."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from tests.reference.cycles import after
from tests.reference.evicting import preempt, reclaim, shuffle
from tests.reference.gang_evicting import gangpreempt, gangreclaim
from tests.reference.placing import allocate, backfill, enqueue
from tests.reference.session import Session

ACTIONS: dict[str, Callable[[Session], None]] = {
    "enqueue": enqueue,
    "allocate": allocate,
    "backfill": backfill,
    "preempt": preempt,
    "reclaim": reclaim,
    "gangpreempt": gangpreempt,
    "gangreclaim": gangreclaim,
    "shuffle": shuffle,
}


def decide(document: Mapping[str, Any], process: dict[str, float] | None = None) -> Session:
    """Return a session after all its actions."""
    session = Session(document, {} if process is None else process)
    for action in session.actions:
        session.action = action
        ACTIONS[action](session)
    session.close()
    return session


def cycles(document: Mapping[str, Any], count: int | None = None) -> Iterator[Session]:
    """Yield the sessions of a scenario, one after the other."""
    process: dict[str, float] = {}
    count = int(document.get("cycles") or 1) if count is None else count
    for number in range(1, count + 1):
        session = decide(document, process)
        yield session
        if number < count:
            document = after(document, session, number)
