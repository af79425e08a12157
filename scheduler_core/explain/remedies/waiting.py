"""A waiting job in the form that remedies need."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

from scheduler_core.conf import DEFAULT_CONF
from scheduler_core.explain.changes import Change, value_at
from scheduler_core.explain.cycle_view import Amounts, CycleView, Object, items, key_of, plus
from scheduler_core.model.queue import ROOT
from scheduler_core.resource import CPU, MEMORY, MIN_RESOURCE, PODS, Resource
from scheduler_core.resource_list import quantities, read_resource_list

_ROUND: Mapping[str, Sequence[int]] = {
    CPU: (1000, 250, 50, 10),
    MEMORY: (2**30, 2**28, 2**24, 2**20, 2**10),
    PODS: (),
}
DEVICE = 1000
"""One whole device, in the scheduler's milli-units."""
_JOB_NAME = "volcano.sh/job-name"
_CLUSTER_WIDE = ("queues", "nodes")


class PodSpec(NamedTuple):
    """A specification of waiting pods in the scenario: in a pod, or in the template of a Job's task.

    Attributes
    ----------
    kind, key, path : str
        The object, and the path to the specification in it.
    spec : mapping
        The specification.
    pods : list of str
        The waiting pods with this specification.

    """

    kind: str
    key: str
    path: str
    spec: Object
    pods: list[str]

    def change(self, field: str, after: Any) -> Change:
        """Return the change of a field of the specification."""
        return Change(self.kind, self.key, f"{self.path}.{field}", value_at(self.spec, field), after)


class Waiting:
    """A waiting job in the view of a cycle.

    Attributes
    ----------
    pods : list of str
        The waiting pods, by key.
    requests : dict
        The request of each pod.
    request : dict
        The sum of the requests, by resource, without `pods`; for a job without pods its minResources.

    """

    def __init__(self, view: CycleView, job: str, about: Mapping[str, Any]) -> None:
        self.view = view
        self.job = job
        self.about = about
        self.entry = view.job(job)
        self.queue: str = self.entry["queue"]
        self.pods = [
            task["pod"] for task in self.entry["tasks"] if task["status"] in ("Pending", "Pipelined")
        ]
        self.requests = {pod: view.request(pod) for pod in self.pods}
        total: Amounts = {} if self.entry["tasks"] else self._min_resources()
        for request in self.requests.values():
            total = plus(total, request)
        self.request = {
            name: value for name, value in total.items() if name != PODS and value >= MIN_RESOURCE
        }

    def _min_resources(self) -> Amounts:
        stated = value_at(self.podgroup or {}, "spec.minResources")
        return dict(read_resource_list(stated or {}).items())

    @property
    def conf(self) -> Mapping[str, Any]:
        """Return the scheduler configuration."""
        conf: Mapping[str, Any] = self.view.document.get("scheduler_conf") or DEFAULT_CONF
        return conf

    @property
    def total(self) -> Object:
        """Return the total of all nodes."""
        total: Object = self.view.cycle["at_open"]["total_resource"]
        return total

    @cached_property
    def chain(self) -> list[str]:
        """Return the job's queue and, in a hierarchy, its ancestors without root."""
        chain = [self.queue]
        above = self.view.queues("at_open").get(self.queue, {}).get("ancestors")
        if above is None:
            return chain
        while (parent := self._parent(chain[-1])) and parent not in chain:
            chain.append(parent)
        return chain

    def _parent(self, name: str) -> str:
        entry = self.object_of("queues", name)
        parent: str = ((entry or {}).get("spec") or {}).get("parent") or ""
        return parent if parent != ROOT else ""

    @cached_property
    def all_requested(self) -> Amounts:
        """Return the request of all waiting pods, including those of other jobs."""
        total: Amounts = {}
        for entry in self.view.jobs.values():
            for task in entry["tasks"]:
                if task["status"] == "Pending":
                    total = plus(total, self.view.request(task["pod"]))
        return total

    @property
    def pods_in_all(self) -> int:
        """Return the number of waiting pods of all jobs."""
        return sum(entry["task_status"].get("Pending", 0) for entry in self.view.jobs.values())

    @cached_property
    def podgroup(self) -> Object | None:
        """Return the job's PodGroup, None if a controller creates it."""
        return self.object_of("podgroups", self.job)

    def object_of(self, kind: str, key: str) -> Object | None:
        """Return an object of the scenario, None if there is none."""
        named = (entry for entry in items(self.view.document, kind))
        if kind in _CLUSTER_WIDE:
            return next((entry for entry in named if entry["metadata"]["name"] == key), None)
        return next((entry for entry in named if key_of(entry) == key), None)

    @cached_property
    def vcjob(self) -> Object | None:
        """Return the Job for which a controller creates the PodGroup, None if the scenario has a PodGroup."""
        if self.podgroup is not None:
            return None
        notes = (self.view.pods[pod]["metadata"].get("annotations") or {} for pod in self.pods)
        name = next((note[_JOB_NAME] for note in notes if _JOB_NAME in note), "")
        return self.object_of("jobs", f"{self.job.partition('/')[0]}/{name}")

    @cached_property
    def specs(self) -> list[PodSpec]:
        """Return the specifications of the waiting pods in the scenario."""
        written = {key_of(entry): entry for entry in items(self.view.document, "pods")}
        found = [
            PodSpec("pods", pod, "spec", written[pod].get("spec") or {}, [pod])
            for pod in self.pods
            if pod in written
        ]
        if self.vcjob is None:
            return found
        for number, task in enumerate(self.vcjob["spec"].get("tasks") or ()):
            name = task.get("name") or f"default{number}"
            made = f"{self.job.partition('/')[0]}/{self.vcjob['metadata']['name']}-{name}-"
            pods = [pod for pod in self.pods if pod not in written and pod.rpartition("-")[0] + "-" == made]
            if pods:
                spec = (task.get("template") or {}).get("spec") or {}
                path = f"spec.tasks.{number}.template.spec"
                found.append(PodSpec("jobs", key_of(self.vcjob), path, spec, pods))
        return found

    def missing(self, resource: str) -> int:
        """Return how much of a resource was missing at the gate that stopped the job, rounded up."""
        short: Mapping[str, Any] = self.about.get("short") or {}
        closest: Mapping[str, Any] = (self.about.get("closest") or {}).get("lacks") or {}
        lacking: float = short[resource]["missing"] if resource in short else closest.get(resource, 0.0)
        return max(0, math.ceil(lacking))


def round_amounts(resource: str, unit: int) -> tuple[int, ...]:
    """Return the number of units in round amounts of a resource, the roundest first."""
    return tuple(step // unit for step in _ROUND.get(resource, (DEVICE,)) if step > unit)


def smallest_unit(resource: str, amounts: Sequence[float]) -> int:
    """Return the smallest unit of a resource: a millicore, a byte, a device unless one is divided."""
    if resource in (CPU, MEMORY, PODS):
        return 1
    return DEVICE if all(amount % DEVICE == 0 for amount in amounts) else 1


def as_quantity(resource: str, amount: float) -> str:
    """Return an amount as Kubernetes writes it.

    Examples
    --------
    >>> as_quantity("cpu", 1500), as_quantity("nvidia.com/gpu", 2000)
    ('1500m', '2')

    """
    vector = Resource()
    vector.set(resource, amount)
    return quantities(vector)[resource]
