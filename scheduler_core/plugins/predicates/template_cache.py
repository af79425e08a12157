"""Was a pod of the same template refused by this node before?

Source: volcano ``pkg/scheduler/plugins/predicates/cache.go`` at v1.15.1.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from scheduler_core.model.job import TaskInfo
from scheduler_core.model.labels import Mask

TEMPLATE_UID = "volcano.sh/template-uid"


class TemplateCache:
    """What the stable filters answered, by template and node; namespaces are not distinguished."""

    def __init__(self, count: int) -> None:
        self.count = count
        self._known: dict[str, tuple[Mask, Mask]] = {}

    @staticmethod
    def applies_to(task: TaskInfo) -> bool:
        """Return whether a pod names its template."""
        return bool(task.annotations().get(TEMPLATE_UID))

    def look_up(self, task: TaskInfo, nodes: NDArray[np.intp], fits: Mask) -> tuple[Mask, Mask]:
        """Return which nodes are remembered as fitting and which as refusing, (K,) each.

        What the filters answer now, `fits`, is kept for the nodes that are not remembered yet.
        """
        known, fitting = self._known.setdefault(
            task.annotations()[TEMPLATE_UID], (np.zeros(self.count, np.bool_), np.zeros(self.count, np.bool_))
        )
        remembered = known[nodes]
        answer = fitting[nodes]
        fresh = nodes[~remembered]
        fitting[fresh] = fits[~remembered]
        known[fresh] = True
        return remembered & answer, remembered & ~answer
