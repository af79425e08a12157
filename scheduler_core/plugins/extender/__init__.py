"""Plugin extender: delegate decisions to an HTTP service outside the scheduler.

Source: volcano ``pkg/scheduler/plugins/extender/extender.go`` at v1.15.1.
"""

from scheduler_core.plugins.extender.plugin import NAME, open_session

__all__ = ["NAME", "open_session"]
