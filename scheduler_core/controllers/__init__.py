"""Volcano's controllers: objects that they create for Jobs, plain pods and new nodes."""

from scheduler_core.controllers.daemons import bare_nodes, equip, pods_of_nodes, twins_of
from scheduler_core.controllers.made import Made
from scheduler_core.controllers.plain_pods import group_plain_pods
from scheduler_core.controllers.vcjob import expand_jobs

__all__ = ["Made", "bare_nodes", "equip", "expand_jobs", "group_plain_pods", "pods_of_nodes", "twins_of"]
