"""The cache of the stable filters' results by pod template (`predicate.CacheEnable`).

Source: volcano ``pkg/scheduler/plugins/predicates/cache.go`` at v1.15.1.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from scheduler_core.model.job import TaskInfo
from scheduler_core.model.labels import Mask

TEMPLATE_UID = "volcano.sh/template-uid"


class TemplateCache:
    """Results of the stable filters by template and node, regardless of the namespace."""

    def __init__(self, count: int) -> None:
        self.count = count
        self._known: dict[str, tuple[Mask, Mask]] = {}

    @staticmethod
    def applies_to(task: TaskInfo) -> bool:
        """Return whether a pod names its template."""
        return bool(task.annotations().get(TEMPLATE_UID))

    def look_up(self, task: TaskInfo, nodes: NDArray[np.intp], fits: Mask) -> tuple[Mask, Mask]:
        """Return which nodes are cached as fitting and which as refusing, (K,) each.

        The current results, `fits`, are cached for the other nodes.
        """
        known, fitting = self._known.setdefault(
            task.annotations()[TEMPLATE_UID], (np.zeros(self.count, np.bool_), np.zeros(self.count, np.bool_))
        )
        cached = known[nodes]
        answer = fitting[nodes]
        fresh = nodes[~cached]
        fitting[fresh] = fits[~cached]
        known[fresh] = True
        return cached & answer, cached & ~answer
