"""Plugin resource-strategy-fit: score nodes per resource, and keep scarce resources free."""

from scheduler_core.plugins.resource_strategy_fit.arguments import NAME
from scheduler_core.plugins.resource_strategy_fit.plugin import open_session

__all__ = ["NAME", "open_session"]
