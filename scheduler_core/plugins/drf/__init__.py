"""Plugin drf: order jobs, and optionally a tree of queues, by dominant resource fairness."""

from scheduler_core.plugins.drf.hierarchy import NAME
from scheduler_core.plugins.drf.plugin import open_session

__all__ = ["NAME", "open_session"]
