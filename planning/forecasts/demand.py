"""The pods of the jobs of a forecast, and their requests."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from planning.documents import items
from scheduler_core.model.pod import ShapeTable
from traces.kubernetes import GROUP_NAME, key_of

Json = Mapping[str, Any]


@dataclass(frozen=True)
class JobSize:
    """The size of a job.

    Attributes
    ----------
    pods : int
    minimum : int
        How many of them must run together: minMember, at most all of them and at least one.
    request : mapping
        The mean request of a pod, by resource in the scheduler's units.

    """

    pods: int
    minimum: int
    request: Mapping[str, float]


Request = tuple[tuple[str, float], ...]
"""What a pod requests, by resource in the scheduler's units, in the order of the names."""


@dataclass(frozen=True)
class Demand:
    """The requests of the jobs of a forecast.

    Attributes
    ----------
    sizes : mapping
        The size of each job, by the key of its PodGroup.
    kinds : mapping
        How many pods of all jobs together request the same.

    """

    sizes: Mapping[str, JobSize]
    kinds: Mapping[Request, int]


def demand_of(document: Json, vcjobs: Mapping[str, Json]) -> Demand:
    """Return the requests of the jobs of a replay.

    Parameters
    ----------
    document : mapping
        The document of the replay.
    vcjobs : mapping
        The Jobs of its result, each with its PodGroup.

    """
    shapes = ShapeTable(default_requests=document.get("admission_defaults") is not False)
    groups, jobs = _Sums(shapes), _Sums(shapes)
    for pod in created(document, "pods"):
        group = (pod["metadata"].get("annotations") or {}).get(GROUP_NAME)
        if group:
            groups.add(f"{namespace_of(pod)}/{group}", pod.get("spec") or {}, 1)
    for key, spec, count in pods_of_jobs(document, vcjobs):
        jobs.add(key, spec, count)
    specs = _job_specs(document)
    of_job = jobs.sizes({key: _spec_of(specs, key).get("minAvailable") for key in vcjobs})
    of_group = {job["podgroup"]: of_job[key] for key, job in vcjobs.items() if key in of_job}
    least = {
        key_of(group): (group.get("spec") or {}).get("minMember") or 1
        for group in created(document, "podgroups")
    }
    return Demand(groups.sizes(least) | of_group, groups.kinds + jobs.kinds)


def pod_jobs(document: Json, vcjobs: Mapping[str, Json]) -> Callable[[str], str]:
    """Return a function from a pod to the key of its PodGroup; empty if it has none."""
    group_of = {
        key_of(pod): f"{namespace_of(pod)}/{group}"
        for pod in created(document, "pods")
        if (group := (pod["metadata"].get("annotations") or {}).get(GROUP_NAME))
    }
    made_by = {
        f"{key}-{task.get('name')}": vcjobs[key]["podgroup"]
        for key, tasks in _tasks(document, vcjobs).items()
        for task in tasks
    }
    return lambda pod: group_of.get(pod) or made_by.get(pod.rpartition("-")[0], "")


def pods_of_jobs(document: Json, vcjobs: Iterable[str]) -> Iterator[tuple[str, Json, int]]:
    """Yield the key of the Job, the specification of its pods and their number, for each task of Jobs."""
    for key, tasks in _tasks(document, vcjobs).items():
        for task in tasks:
            replicas = task.get("replicas")
            template = (task.get("template") or {}).get("spec") or {}
            yield key, template, 1 if replicas is None else int(replicas)


def _tasks(document: Json, vcjobs: Iterable[str]) -> dict[str, Sequence[Json]]:
    """Return the tasks of Jobs, including those that a CronJob or a JobFlow created."""
    specs = _job_specs(document)
    return {key: _spec_of(specs, key).get("tasks") or () for key in vcjobs}


def _spec_of(specs: Mapping[str, Json], key: str) -> Json:
    """Return the specification of a Job by its key; empty if it is unknown."""
    return specs.get(key) or specs.get(f"{key.rpartition('-')[0]} of cron") or {}


def _job_specs(document: Json) -> dict[str, Json]:
    """Return the specifications of Jobs by name, of those of a CronJob as `<name> of cron`."""
    specs: dict[str, Json] = {}
    for job in created(document, "jobs"):
        specs[key_of(job)] = job.get("spec") or {}
    for cron in created(document, "cronjobs"):
        template = (cron.get("spec") or {}).get("jobTemplate") or {}
        specs[f"{key_of(cron)} of cron"] = template.get("spec") or {}
    templates = {
        key_of(template): template.get("spec") or {} for template in created(document, "jobtemplates")
    }
    for flow in created(document, "jobflows"):
        for step in (flow.get("spec") or {}).get("flows") or ():
            name = step.get("name")
            specs[f"{key_of(flow)}-{name}"] = templates.get(f"{namespace_of(flow)}/{name}") or {}
    return specs


class _Sums:
    """Numbers of pods and the sums of their requests, by key."""

    def __init__(self, shapes: ShapeTable) -> None:
        self._shapes = shapes
        self._requests: dict[int, Request] = {}
        self._pods: dict[str, int] = {}
        self._amounts: dict[str, dict[str, float]] = {}
        self.kinds: Counter[Request] = Counter()

    def add(self, key: str, spec: Json, count: int) -> None:
        """Count some pods of a specification."""
        amounts = self._amounts.setdefault(key, {})
        request = self._request_of(spec)
        for resource, amount in request:
            amounts[resource] = amounts.get(resource, 0.0) + amount * count
        self.kinds[request] += count
        self._pods[key] = self._pods.get(key, 0) + count

    def _request_of(self, spec: Json) -> Request:
        """Return the requests of a pod of a specification, calculated once per shape."""
        shape = self._shapes.shape_of(spec)
        if shape.number not in self._requests:
            pairs = [(resource, float(amount)) for resource, amount in shape.request.items()]
            self._requests[shape.number] = tuple(sorted(pairs))
        return self._requests[shape.number]

    def sizes(self, least: Mapping[str, int | None]) -> dict[str, JobSize]:
        """Return the size of each key; `least` has how many pods must run together, None: all of them."""
        return {
            key: JobSize(
                pods=pods,
                minimum=min(max(int(least.get(key) or pods), 1), pods),
                request={name: amount / pods for name, amount in self._amounts[key].items()},
            )
            for key, pods in self._pods.items()
            if pods
        }


def namespace_of(thing: Json) -> str:
    """Return the namespace of an object."""
    return thing["metadata"].get("namespace") or "default"


def created(document: Json, kind: str) -> Iterator[Json]:
    """Yield the objects of a kind that a replay has at the beginning, then those that its events create."""
    yield from items(document.get(kind))
    for event in events_of(document):
        yield from items((event.get("create") or {}).get(kind))


def events_of(document: Json) -> Iterable[Json]:
    """Return the events of a replay."""
    return (document.get("replay") or {}).get("events") or ()
