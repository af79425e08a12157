"""Which groups of nodes may the tasks of a queue use, and how much of each?"""

from scheduler_core.plugins.nodegroup.plugin import NAME, open_session

__all__ = ["NAME", "open_session"]
