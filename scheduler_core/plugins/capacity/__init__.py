"""Plugin capacity: keep queues within quotas that users set, flat or in a hierarchy."""

from scheduler_core.plugins.capacity.account import NAME
from scheduler_core.plugins.capacity.plugin import open_session

__all__ = ["NAME", "open_session"]
