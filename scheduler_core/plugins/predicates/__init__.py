"""Plugin predicates: the Kubernetes filters for taints, node affinity, ports, pods and spread."""

from scheduler_core.plugins.predicates.plugin import open_session
from scheduler_core.plugins.predicates.pod_state import NAME

__all__ = ["NAME", "open_session"]
