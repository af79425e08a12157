"""Which node suits a task resource by resource, and is something scarce kept for those who need it?"""

from scheduler_core.plugins.resource_strategy_fit.arguments import NAME
from scheduler_core.plugins.resource_strategy_fit.plugin import open_session

__all__ = ["NAME", "open_session"]
