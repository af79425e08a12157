"""How does a node stand at the end of a run, in one sentence?"""

from collections.abc import Mapping

from planner.rows import NodeMoment, Reason
from scheduler_core.explain.stories import node_standing


def node_said(stands: NodeMoment, steps: Mapping[str, int]) -> Reason:
    """Return what a node has left and how many pods came and went; `steps` counts those on it by kind."""
    counts = {op: steps.get(op, 0) for op in ("bind", "pipeline", "evict")}
    return Reason(**node_standing(stands.node, stands.idle, stands.releasing, counts))
