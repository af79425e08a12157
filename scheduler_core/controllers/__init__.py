"""Volcano's controllers: PodGroups and pods that they create for Jobs and plain pods."""

from scheduler_core.controllers.made import Made
from scheduler_core.controllers.plain_pods import group_plain_pods
from scheduler_core.controllers.vcjob import expand_jobs

__all__ = ["Made", "expand_jobs", "group_plain_pods"]
