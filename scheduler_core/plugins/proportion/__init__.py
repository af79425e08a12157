"""Does every queue get its weighted part?"""

from scheduler_core.plugins.proportion.plugin import NAME, open_session

__all__ = ["NAME", "open_session"]
