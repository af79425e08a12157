"""What does a service outside the scheduler say to its questions?

Source: volcano ``pkg/scheduler/plugins/extender/extender.go`` at v1.15.1.
"""

from scheduler_core.plugins.extender.plugin import NAME, open_session

__all__ = ["NAME", "open_session"]
