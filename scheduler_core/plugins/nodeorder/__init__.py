"""Plugin nodeorder: the eight node scores of Kubernetes."""

from scheduler_core.plugins.nodeorder.plugin import NAME, open_session

__all__ = ["NAME", "open_session"]
