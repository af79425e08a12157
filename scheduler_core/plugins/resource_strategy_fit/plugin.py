"""Registration of resource-strategy-fit's callbacks.

Three features, each with its own arguments: a score by strategy per resource, a score that avoids nodes with
scarce resources (sra), and a filter that keeps cpu and memory free for idle accelerators (proportional).

Source: volcano ``pkg/scheduler/plugins/resource-strategy-fit/*.go`` at v1.15.1.
"""

from __future__ import annotations

from scheduler_core.conf import Arguments
from scheduler_core.framework.plugin_fn import shape_only
from scheduler_core.framework.session import Session
from scheduler_core.plugins.resource_strategy_fit.arguments import NAME
from scheduler_core.plugins.resource_strategy_fit.proportional import ProportionalFilter
from scheduler_core.plugins.resource_strategy_fit.scarce import ScarceScore
from scheduler_core.plugins.resource_strategy_fit.strategies import StrategyScore, own_strategy


def open_session(session: Session, arguments: Arguments) -> None:
    """Register the callbacks of resource-strategy-fit."""
    strategies = StrategyScore.read(session.nodes, arguments)
    scarce = ScarceScore.read(session.nodes, arguments)
    if strategies.scale > 0 or scarce.scale > 0:
        session.registry.add_node_order(
            NAME,
            lambda task, nodes: strategies.score(task, nodes) + scarce.score(task, nodes),
            class_key=own_strategy,
        )
    reserve = ProportionalFilter.read(session, arguments)
    if reserve is not None:
        session.registry.add_predicate(NAME, reserve.predicate, class_key=shape_only)
