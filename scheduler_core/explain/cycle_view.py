"""One cycle of a run: a scenario and its result, looked up by name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

from scheduler_core.admission import DEFAULT_QUEUE, Admission
from scheduler_core.controllers.vcjob import VolcanoJob
from scheduler_core.model.pod import pod_request
from scheduler_core.model.pod_info import DEFAULT_NAMESPACE
from scheduler_core.release import Rule, release_of
from scheduler_core.resource import Resource

Object = Mapping[str, Any]
Amounts = dict[str, float]


class Unknown(LookupError):
    """The run has no object of this name."""


class CycleView:
    """One cycle of a result with its scenario.

    Parameters
    ----------
    document : mapping
        The scenario.
    result : mapping
        The result of `simulate_document` for it, with explanations.
    cycle : int, optional
        The number of the cycle; None: the last one.

    Raises
    ------
    Unknown
        If the result has no such cycle.

    """

    def __init__(self, document: Object, result: Object, cycle: int | None = None) -> None:
        self.document = document
        self.result = result
        cycles: Sequence[Object] = result.get("cycles") or ()
        number = len(cycles) if cycle is None else cycle
        if not 1 <= number <= len(cycles):
            raise Unknown(f"the run has no cycle {number}")
        self.number = number
        self.cycle: Object = cycles[number - 1]
        self.decisions: Sequence[Object] = self.cycle["decisions"]
        self.explain: Object = self.cycle.get("explain") or {}

    # names

    @cached_property
    def jobs(self) -> dict[str, Object]:
        """Return the result's entry of each job, by key."""
        return {entry["name"]: entry for entry in self.cycle["podgroups"]}

    @cached_property
    def job_of(self) -> dict[str, str]:
        """Return the job of each pod."""
        return {task["pod"]: job["name"] for job in self.cycle["podgroups"] for task in job["tasks"]}

    @cached_property
    def task_of(self) -> dict[str, Object]:
        """Return the result's entry of each pod that belongs to a job."""
        return {task["pod"]: task for job in self.cycle["podgroups"] for task in job["tasks"]}

    def job(self, name: str) -> Object:
        """Return the result's entry of a job, given as namespace/name, or as a name in `default`.

        Raises
        ------
        Unknown
            If the cycle has no such job.

        """
        entry = self.jobs.get(self.key_of_job(name))
        if entry is None:
            raise Unknown(f"the run has no job {name}")
        return entry

    def key_of_job(self, name: str) -> str:
        """Return the key of a job; the job of a vcjob is also found by the vcjob's name."""
        qualified = self.qualified(name)
        if qualified in self.jobs:
            return qualified
        return next((key for key in podgroup_keys(self.document, qualified) if key in self.jobs), qualified)

    def qualified(self, name: str) -> str:
        """Return a name with its namespace, `default` unless it has one."""
        return name if "/" in name else f"{DEFAULT_NAMESPACE}/{name}"

    def queue_of_job(self, job: str) -> str:
        """Return the queue of a job, empty if the run does not have the job."""
        entry = self.jobs.get(job)
        return entry["queue"] if entry is not None else ""

    def queues(self, moment: str) -> dict[str, Object]:
        """Return the queues' figures `at_open` or `at_end`, by name."""
        return {entry["name"]: entry for entry in self.cycle[moment].get("queues") or ()}

    @property
    def queue_plugin(self) -> str:
        """Return the plugin that determines what queues deserve, empty if there is none."""
        return str(self.cycle["at_open"].get("queue_plugin") or "")

    @property
    def actions(self) -> Sequence[str]:
        """Return the configured actions."""
        actions: Sequence[str] = self.result["actions"]
        return actions

    # objects of the scenario

    def items(self, kind: str) -> Sequence[Object]:
        """Return the scenario's objects of one kind."""
        return items(self.document, kind)

    @cached_property
    def pods(self) -> Mapping[str, Object]:
        """Return the pods by namespace/name, including those that controllers create."""
        named = {key_of(entry): entry for entry in self.items("pods")}
        return named if self.job_of.keys() <= named.keys() else Admission(self.document).cluster().pods

    def request(self, pod: str) -> Amounts:
        """Return what a pod requests, in the scheduler's units.

        Raises
        ------
        Unknown
            If the scenario has no such pod.

        """
        entry = self.pods.get(pod)
        if entry is None:
            raise Unknown(f"the scenario has no pod {pod}")
        defaults = self.document.get("admission_defaults") is not False
        request: Resource = pod_request(
            entry.get("spec") or {},
            default_requests=defaults,
            pod_level=release_of(self.document).follows(Rule.POD_LEVEL_REQUESTS),
        )
        return request.as_dict()


def items(document: Object, kind: str) -> Sequence[Object]:
    """Return the objects of one kind, given as a plain list or as a Kubernetes List."""
    value = document.get(kind) or []
    entries: Sequence[Object] = value.get("items") or [] if isinstance(value, Mapping) else value
    return entries


def key_of(entry: Object) -> str:
    """Return an object's namespace/name."""
    metadata = entry["metadata"]
    return f"{metadata.get('namespace') or DEFAULT_NAMESPACE}/{metadata['name']}"


def podgroup_keys(document: Object, job: str) -> Iterator[str]:
    """Yield the possible keys of the PodGroup of the vcjob with a job's name."""
    for entry in items(document, "jobs"):
        if key_of(entry) == job:
            yield f"{job}-{VolcanoJob(entry, '').uid}"
    for entry in items(document, "podgroups"):
        namespace = entry["metadata"].get("namespace") or DEFAULT_NAMESPACE
        owners = entry["metadata"].get("ownerReferences") or ()
        if any(one.get("kind") == "Job" and f"{namespace}/{one.get('name')}" == job for one in owners):
            yield key_of(entry)


def queue_named(podgroup: Object) -> str:
    """Return the queue that a PodGroup or a Job names."""
    return (podgroup.get("spec") or {}).get("queue") or DEFAULT_QUEUE


def plus(left: Mapping[str, float], right: Mapping[str, float], sign: float = 1.0) -> Amounts:
    """Return the sum of two amounts, or with sign -1 their difference."""
    return {name: left.get(name, 0.0) + sign * right.get(name, 0.0) for name in {**left, **right}}
