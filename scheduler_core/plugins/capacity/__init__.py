"""Does every queue stay within its own quota, and get back what it deserves?"""

from scheduler_core.plugins.capacity.plugin import NAME, open_session

__all__ = ["NAME", "open_session"]
