"""On which nodes may a pod run? Taints, node affinity, ports, other pods, topology spread."""

from scheduler_core.plugins.predicates.plugin import NAME, open_session

__all__ = ["NAME", "open_session"]
