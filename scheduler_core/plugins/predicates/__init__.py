"""On which nodes may a pod run? Taints, node affinity, ports, other pods, topology spread."""

from scheduler_core.plugins.predicates.plugin import open_session
from scheduler_core.plugins.predicates.pod_state import NAME

__all__ = ["NAME", "open_session"]
