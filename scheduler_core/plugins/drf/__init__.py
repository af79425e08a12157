"""Does everybody hold the same part of what they need most?"""

from scheduler_core.plugins.drf.plugin import NAME, open_session

__all__ = ["NAME", "open_session"]
