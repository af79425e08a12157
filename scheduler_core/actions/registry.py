"""Which module performs which action?"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from scheduler_core.actions import (
    allocate,
    backfill,
    enqueue,
    gangpreempt,
    gangreclaim,
    preempt,
    reclaim,
    shuffle,
)
from scheduler_core.framework.session import Session

ACTIONS: Mapping[str, Callable[[Session], None]] = {
    "enqueue": enqueue.execute,
    "allocate": allocate.execute,
    "backfill": backfill.execute,
    "gangpreempt": gangpreempt.execute,
    "gangreclaim": gangreclaim.execute,
    "preempt": preempt.execute,
    "reclaim": reclaim.execute,
    "shuffle": shuffle.execute,
}
