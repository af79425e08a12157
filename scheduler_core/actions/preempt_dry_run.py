"""Which node would lose the least? Preemption tried out on copies of the nodes first.

Source: volcano ``pkg/scheduler/actions/preempt/preempt.go`` (topology-aware variant) at v1.15.1.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from scheduler_core.conf import Arguments
from scheduler_core.framework.placement import Nodes
from scheduler_core.framework.statement import Statement
from scheduler_core.model.job import TaskInfo
from scheduler_core.model.queue import QueueInfo


@dataclass(frozen=True)
class DryRunArguments:
    """How many candidate nodes a dry run collects."""

    enabled: bool
    percentage: int
    at_least: int
    at_most: int

    @classmethod
    def read(cls, arguments: Arguments) -> DryRunArguments:
        """Return the arguments of action preempt that concern dry runs."""
        return cls(
            arguments.get_bool("enableTopologyAwarePreemption", False),
            arguments.get_int("minCandidateNodesPercentage", 10),
            arguments.get_int("minCandidateNodesAbsolute", 1),
            arguments.get_int("maxCandidateNodesAbsolute", 100),
        )


def preempt_by_dry_run(
    statement: Statement,
    queue: QueueInfo,
    task: TaskInfo,
    nodes: Nodes,
    is_candidate: Callable[[TaskInfo], bool],
    arguments: DryRunArguments,
) -> bool:
    """Evict for a task on the node whose victims matter least; True when the task was pipelined."""
    raise NotImplementedError
