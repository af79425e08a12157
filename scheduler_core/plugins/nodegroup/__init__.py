"""Plugin nodegroup: restrict queues to groups of nodes, prefer groups, and limit use per group."""

from scheduler_core.plugins.nodegroup.plugin import NAME, open_session

__all__ = ["NAME", "open_session"]
