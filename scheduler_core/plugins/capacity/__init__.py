"""Does every queue stay within its own quota, and get back what it deserves?"""

from scheduler_core.plugins.capacity.account import NAME
from scheduler_core.plugins.capacity.plugin import open_session

__all__ = ["NAME", "open_session"]
