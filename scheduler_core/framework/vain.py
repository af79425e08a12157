"""Where has an evicting action nothing to hope for until something changes?"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from scheduler_core.framework.extension_points import Point
from scheduler_core.framework.session import Session
from scheduler_core.model.job import TaskInfo


class VainNodes:
    """Nodes where plugins refused every candidate, and would do so again.

    That holds for anybody who asks from the same queue, until a task comes to the node or leaves it, or a
    queue that has candidates there gains a task.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self._vain: dict[str, NDArray[np.bool_]] = {}
        session.nodes.listeners.append(self._forget_node)
        session.add_event_handler(allocate=self._forget_queue, deallocate=_ignore)

    def add(self, queue: str, node: int) -> None:
        """Keep that looking on a node was in vain for a queue."""
        vain = self._vain.get(queue)
        if vain is None:
            vain = self._vain[queue] = np.zeros(len(self._session.nodes), dtype=np.bool_)
        vain[node] = True

    def of(self, queue: str) -> NDArray[np.bool_] | None:
        """Return which nodes a queue need not look at, (N,); None: none."""
        return self._vain.get(queue)

    def _forget_node(self, _task: TaskInfo, node: int, _sign: int) -> None:
        for vain in self._vain.values():
            vain[node] = False

    def _forget_queue(self, task: TaskInfo) -> None:
        if task.job is not None and self._vain:
            touched = self._session.evictable.running[task.job.queue] > 0
            for vain in self._vain.values():
                vain[touched] = False


def _ignore(_task: TaskInfo) -> None:
    """Take no notice: a queue that loses tasks will not offer more."""


def vain_nodes(session: Session, point: Point) -> VainNodes | None:
    """Return where to keep nodes that were looked at in vain.

    None when a refusal may turn into a permit, or when each one is to be explained.
    """
    answers = [answer for tier in session.tiers_of(point) for _, answer in tier]
    if session.trace is not None or not all(answer.is_final for answer in answers):
        return None
    return VainNodes(session)
