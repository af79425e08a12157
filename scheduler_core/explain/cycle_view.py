"""What is known of one cycle of a run? A scenario and its result, looked up by name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

from scheduler_core.admission import DEFAULT_QUEUE, Admission
from scheduler_core.controllers.vcjob import VolcanoJob
from scheduler_core.model.pod import pod_request
from scheduler_core.model.pod_info import DEFAULT_NAMESPACE
from scheduler_core.resource import Resource

Object = Mapping[str, Any]
Amounts = dict[str, float]


class Unknown(LookupError):
    """The run knows nothing of this name."""


class CycleView:
    """One cycle of a result beside the scenario that gave it.

    Parameters
    ----------
    document : mapping
        The scenario.
    result : mapping
        What `simulate_document` made of it, with explanations.
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
        """Return what the result says of each job, by key."""
        return {entry["name"]: entry for entry in self.cycle["podgroups"]}

    @cached_property
    def job_of(self) -> dict[str, str]:
        """Return the job of each pod."""
        return {task["pod"]: job["name"] for job in self.cycle["podgroups"] for task in job["tasks"]}

    @cached_property
    def task_of(self) -> dict[str, Object]:
        """Return what the result says of each pod of a job."""
        return {task["pod"]: task for job in self.cycle["podgroups"] for task in job["tasks"]}

    def job(self, name: str) -> Object:
        """Return what the result says of a job, given as namespace/name, or as a name in `default`.

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
        """Return the key of a job; one that a vcjob made is found by the vcjob's name as well."""
        spelled = self.spelled(name)
        if spelled in self.jobs:
            return spelled
        return next((key for key in podgroup_keys(self.document, spelled) if key in self.jobs), spelled)

    def spelled(self, name: str) -> str:
        """Return a name with its namespace."""
        return name if "/" in name else f"{DEFAULT_NAMESPACE}/{name}"

    def queue_of_job(self, job: str) -> str:
        """Return the queue of a job, empty when the run does not know the job."""
        entry = self.jobs.get(job)
        return entry["queue"] if entry is not None else ""

    def queues(self, moment: str) -> dict[str, Object]:
        """Return the queues' figures `at_open` or `at_end`."""
        return {entry["name"]: entry for entry in self.cycle[moment].get("queues") or ()}

    @property
    def queue_plugin(self) -> str:
        """Return the plugin that says what queues deserve, empty when none does."""
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
        """Return the pods by namespace/name, those that controllers make among them."""
        named = {key_of(entry): entry for entry in self.items("pods")}
        return named if self.job_of.keys() <= named.keys() else Admission(self.document).cluster().pods

    def request(self, pod: str) -> Amounts:
        """Return what a pod takes, in the scheduler's units.

        Raises
        ------
        Unknown
            If the scenario has no such pod.

        """
        entry = self.pods.get(pod)
        if entry is None:
            raise Unknown(f"the scenario has no pod {pod}")
        defaults = self.document.get("admission_defaults") is not False
        request: Resource = pod_request(entry.get("spec") or {}, default_requests=defaults)
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
    """Yield under which keys there may be the PodGroup of a vcjob that is named as the vcjob itself is."""
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
