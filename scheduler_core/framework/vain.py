"""What is left behind by evictions that were tried and all taken back?

Source: volcano ``pkg/scheduler/framework/statement.go`` (unevict) at v1.15.1.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from scheduler_core.model.job import TaskInfo, Transaction
from scheduler_core.model.status import TaskStatus

if TYPE_CHECKING:
    from scheduler_core.framework.session import Session


def leave_nothing(_tasks: Sequence[TaskInfo]) -> None:
    """Say that a plugin keeps nothing of places that were given back and taken again."""


def evict_in_vain(session: Session, tasks: Sequence[TaskInfo]) -> bool:
    """Leave everything as if tasks had been evicted, one after the other, and all of that taken back.

    Each of them remembers that it was terminating, and runs, even if it had only been bound before. False,
    and nothing is done, when a plugin has to be told of each eviction.
    """
    if session.registry.on_discard is None:
        return False
    nodes = session.nodes
    for task in tasks:
        task.last_transaction = Transaction(task.node_name, TaskStatus.RELEASING, task.eviction_occurred)
        if task.status is not TaskStatus.RUNNING and task.job is not None:
            task.job.update_task_status(task, TaskStatus.RUNNING)
            nodes.update_task(task)
        elif not nodes.names_scalars[task.node]:
            nodes.update_task(task)
    for leave_traces in session.registry.on_discard:
        leave_traces(tasks)
    return True
