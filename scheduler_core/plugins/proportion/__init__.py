"""Plugin proportion: divide the cluster among queues by weight."""

from scheduler_core.plugins.proportion.division import NAME
from scheduler_core.plugins.proportion.plugin import open_session

__all__ = ["NAME", "open_session"]
