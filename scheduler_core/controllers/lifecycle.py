"""Life cycle of Jobs: reactions to events, and phases.

Source: volcano ``pkg/controllers/job/state``, ``pkg/controllers/job/job_controller_util.go`` at v1.15.1.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from scheduler_core.controllers.vcjob import VolcanoJob
from scheduler_core.model.timestamps import parse_duration

SYNC = "SyncJob"
RESTART = "RestartJob"
RESUME = "ResumeJob"
RESTARTS_OF = {"RestartTask": "task", "RestartPod": "pod", "RestartPartition": "partition"}
"""The actions that restart part of a Job, with the name of that part."""
ENDING = {"AbortJob": "Aborting", "CompleteJob": "Completing", "TerminateJob": "Terminating"}
ENDED = {"Aborting": "Aborted", "Completing": "Completed", "Terminating": "Terminated"}
FINISHED = frozenset({"Completed", "Failed", "Terminated"})
DEFAULT_RETRIES = 3

_INTERNAL = frozenset({"OutOfSync", "CommandIssued", "PodRunning"})
_ANY = "*"


class Request(NamedTuple):
    """An event of a Job.

    Attributes
    ----------
    event : str
        The event as named in policies, or OutOfSync, PodRunning, CommandIssued.
    task, pod, partition : str
        The part of the Job that the event concerns, if any.
    exit_code : int
        The exit code of the pod's first container.
    version : int or None
        The Job's version when the pod was created; None: the event is not about a pod.
    action : str
        The action of a command.

    """

    event: str
    task: str = ""
    pod: str = ""
    partition: str = ""
    exit_code: int = 0
    version: int | None = None
    action: str = ""


class Reaction(NamedTuple):
    """The controller's action, and its delay in seconds."""

    action: str
    delay: float = 0.0


@dataclass
class Counts:
    """The pods of a Job by phase, and the successes by task."""

    pending: int = 0
    running: int = 0
    succeeded: int = 0
    failed: int = 0
    terminating: int = 0
    successes: dict[str, int] = field(default_factory=dict)

    @property
    def live(self) -> int:
        """Return how many pods have or may still get resources."""
        return self.pending + self.running + self.terminating


def reaction(job: VolcanoJob, version: int, request: Request) -> Reaction:
    """Return the reaction to an event: the first matching policy of the task, then of the Job.

    An event of a pod of an earlier version of the Job only syncs the Job.
    """
    if request.action:
        return Reaction(request.action)
    if request.event in _INTERNAL or (request.version is not None and request.version < version):
        return Reaction(SYNC)
    for policy in _policies(job, request.task):
        timeout = parse_duration(policy["timeout"]) if policy.get("timeout") else None
        if _matches(policy, request, has_timeout=timeout is not None):
            return Reaction(policy.get("action") or SYNC, timeout or 0.0)
    return Reaction(SYNC)


def _policies(job: VolcanoJob, task: str) -> Iterator[Mapping[str, Any]]:
    for entry in job.tasks:
        if entry.name == task:
            yield from entry.raw.get("policies") or ()
    yield from job.spec.get("policies") or ()


def _matches(policy: Mapping[str, Any], request: Request, *, has_timeout: bool) -> bool:
    """Return whether a policy matches an event; one about pending pods matches only with a timeout."""
    events = [*(policy.get("events") or ()), *filter(None, [policy.get("event")])]
    named = request.event in events or _ANY in events
    if named and (request.event != "PodPending" or has_timeout):
        return True
    code = policy.get("exitCode")
    return code is not None and int(code) == request.exit_code


def max_retry(job: VolcanoJob) -> int:
    """Return the number of restarts after which a Job fails."""
    return int(job.spec.get("maxRetry") or 0) or DEFAULT_RETRIES


def replicas(job: VolcanoJob) -> int:
    """Return how many pods a Job has."""
    return sum(task.replicas for task in job.tasks)


def phase_after(job: VolcanoJob, phase: str, counts: Counts, retries: int) -> str:
    """Return the phase of a Job after a sync."""
    if phase == "Pending":
        started = counts.running + counts.succeeded + counts.failed
        return "Running" if started >= job.min_available else phase
    if phase == "Restarting":
        if retries >= max_retry(job):
            return "Failed"
        return "Pending" if replicas(job) - counts.terminating >= job.min_available else phase
    if phase == "Running":
        return _running_or_over(job, counts)
    return phase


def _running_or_over(job: VolcanoJob, counts: Counts) -> str:
    total, min_success = replicas(job), job.spec.get("minSuccess")
    if total == 0:
        return "Running"
    if min_success is not None and counts.succeeded >= int(min_success):
        return "Completed"
    if counts.succeeded + counts.failed == total:
        return "Completed" if _has_succeeded(job, counts, min_success) else "Failed"
    return "Pending" if counts.pending > total - job.min_available else "Running"


def _has_succeeded(job: VolcanoJob, counts: Counts, min_success: Any) -> bool:
    """Return whether a Job whose pods have all ended has succeeded."""
    minimums = {task.name: task.min_available for task in job.tasks if task.replicas}
    if job.min_available >= sum(minimums.values()) and any(
        counts.successes.get(name, 0) < minimum for name, minimum in minimums.items()
    ):
        return False
    return min_success is None and counts.succeeded >= job.min_available
