"""Plugin capacity: keep queues within quotas set by users, with or without a hierarchy."""

from scheduler_core.plugins.capacity.account import NAME
from scheduler_core.plugins.capacity.plugin import open_session

__all__ = ["NAME", "open_session"]
