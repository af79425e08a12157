"""Does everybody hold the same part of what they need most?"""

from scheduler_core.plugins.drf.hierarchy import NAME
from scheduler_core.plugins.drf.plugin import open_session

__all__ = ["NAME", "open_session"]
