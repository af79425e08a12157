"""What does Volcano decide in one session?"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tests.reference.evicting import preempt, reclaim
from tests.reference.placing import allocate, backfill, enqueue
from tests.reference.session import Session

ACTIONS: dict[str, Callable[[Session], None]] = {
    "enqueue": enqueue,
    "allocate": allocate,
    "backfill": backfill,
    "preempt": preempt,
    "reclaim": reclaim,
}


def decide(document: Mapping[str, Any]) -> Session:
    """Return a session after all its actions."""
    session = Session(document)
    for action in session.actions:
        session.action = action
        ACTIONS[action](session)
    return session
