"""The workloads of a scenario, as a run would see them.

A workload is a vcjob with its podgroup and pods, a podgroup with its pods, or a pod that has no podgroup.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from planning.amounts import read_amounts
from planning.contents import Objects
from planning.nodes import FINISHED
from planning.rows import Amounts, Quantities
from planning.states import ObjectKey
from planning.workload_fields import (
    DEFAULT,
    JOBS,
    PODGROUPS,
    PODS,
    QUEUE_NAME,
    requests_of,
)
from scheduler_core.controllers.vcjob import OVER
from scheduler_core.model.pod_info import GROUP_NAME
from traces.kubernetes import owning_jobs


@dataclass(frozen=True)
class WorkloadRow:
    """One workload; `requests` are those of one pod, as quantities and as amounts."""

    kind: str
    key: str
    queue: str
    priority_class: str
    min_member: int
    replicas: int
    running: int
    pending: int
    requests: Quantities
    amounts: Amounts
    origin: str

    @property
    def namespace(self) -> str:
        """Return its namespace."""
        return self.key.partition("/")[0]

    @property
    def name(self) -> str:
        """Return its name."""
        return self.key.partition("/")[2]


class Workloads:
    """The workloads of one state of a scenario, and which objects each is made of."""

    def __init__(self, objects: Objects) -> None:
        self._objects = objects
        self.jobs = objects.of_kind(JOBS)
        self.podgroups = objects.of_kind(PODGROUPS)
        self.pods = objects.of_kind(PODS)
        self._members: dict[str, list[str]] = {}
        self._loose: list[str] = []
        self._group_of: dict[str, str] = {}
        self._sort()

    def rows(self) -> list[WorkloadRow]:
        """Return the workloads: vcjobs, podgroups, single pods."""
        owned = set(self._group_of.values())
        return [
            *(self._job_row(key, job) for key, job in self.jobs.items()),
            *(self._group_row(key, group) for key, group in self.podgroups.items() if key not in owned),
            *(self._pod_row(key) for key in self._loose),
        ]

    def row(self, kind: str, key: str) -> WorkloadRow | None:
        """Return one workload, None if there is none."""
        if kind == JOBS and key in self.jobs:
            return self._job_row(key, self.jobs[key])
        if kind == PODGROUPS and key in self.podgroups:
            return self._group_row(key, self.podgroups[key])
        return self._pod_row(key) if kind == PODS and key in self.pods else None

    def parts(self, kind: str, key: str) -> Iterator[ObjectKey]:
        """Yield the objects of a workload."""
        yield kind, key
        group = self._group(kind, key)
        if group and kind == JOBS:
            yield PODGROUPS, group
        if group:
            yield from ((PODS, pod) for pod in self._members.get(group, ()))

    def _sort(self) -> None:
        schedulers = self._objects.content.document.get("scheduler_names") or ["volcano"]
        for key, podgroup in self.podgroups.items():
            for job in owning_jobs(podgroup):
                if job in self.jobs:
                    self._group_of[job] = key
        for key, vcjob in self.jobs.items():
            made = f"{key}-{vcjob['metadata'].get('uid') or key.replace('/', '-')}"
            if made in self.podgroups:
                self._group_of.setdefault(key, made)
        for key, pod in self.pods.items():
            group = (pod["metadata"].get("annotations") or {}).get(GROUP_NAME)
            if group:
                self._members.setdefault(f"{key.partition('/')[0]}/{group}", []).append(key)
            elif (pod.get("spec") or {}).get("schedulerName") in schedulers:
                self._loose.append(key)

    def _group(self, kind: str, key: str) -> str:
        return {JOBS: self._group_of.get(key, ""), PODGROUPS: key}.get(kind, "")

    def _job_row(self, key: str, job: Mapping[str, Any]) -> WorkloadRow:
        spec, group = job.get("spec") or {}, self._group_of.get(key, "")
        tasks = spec.get("tasks") or []
        replicas = sum(int(task.get("replicas") or 0) for task in tasks)
        running, pending = self._standing(group)
        state = (job.get("status") or {}).get("state") or {}
        missing = 0 if state.get("phase") in OVER else replicas - len(self._members.get(group, ()))
        template = (tasks[0].get("template") or {}).get("spec") or {} if tasks else {}
        return self._made(
            JOBS, key, spec, int(spec.get("minAvailable") or replicas),
            (replicas, running, pending + max(missing, 0)), template,
        )  # fmt: skip

    def _group_row(self, key: str, group: Mapping[str, Any]) -> WorkloadRow:
        spec, members = group.get("spec") or {}, self._members.get(key, [])
        running, pending = self._standing(key)
        first = (self.pods[members[0]].get("spec") or {}) if members else {}
        counts = (running + pending, running, pending)
        return self._made(PODGROUPS, key, spec, int(spec.get("minMember") or 0), counts, first)

    def _pod_row(self, key: str) -> WorkloadRow:
        pod = self.pods[key]
        spec = pod.get("spec") or {}
        queue = (pod["metadata"].get("annotations") or {}).get(QUEUE_NAME)
        running, pending = self._counted([key])
        fields = {"queue": queue, "priorityClassName": spec.get("priorityClassName")}
        return self._made(PODS, key, fields, 1, (1, running, pending), spec)

    def _made(
        self,
        kind: str,
        key: str,
        spec: Mapping[str, Any],
        least: int,
        counts: tuple[int, int, int],
        pod: Mapping[str, Any],
    ) -> WorkloadRow:
        requests = requests_of(pod)
        return WorkloadRow(
            kind,
            key,
            spec.get("queue") or DEFAULT,
            spec.get("priorityClassName") or "",
            least,
            *counts,
            requests,
            read_amounts(requests),
            self._origin(kind, key),
        )

    def _origin(self, kind: str, key: str) -> str:
        origin = self._objects.origin(kind, key)
        if origin == "imported" and any(
            self._objects.origin(*part) != "imported" for part in self.parts(kind, key)
        ):
            return "changed"
        return origin

    def _standing(self, group: str) -> tuple[int, int]:
        """Return how many pods of a podgroup are on a node, and how many wait."""
        return self._counted(self._members.get(group, ()))

    def _counted(self, pods: Iterable[str]) -> tuple[int, int]:
        """Return how many of these pods are on a node, and how many wait; finished ones do neither."""
        running = pending = 0
        for key in pods:
            if self._is_over(key):
                continue
            if (self.pods[key].get("spec") or {}).get("nodeName"):
                running += 1
            else:
                pending += 1
        return running, pending

    def _alive(self, group: str) -> list[str]:
        """Return the pods of a PodGroup that are not finished."""
        return [key for key in self._members.get(group, ()) if not self._is_over(key)]

    def _is_over(self, key: str) -> bool:
        return (self.pods[key].get("status") or {}).get("phase") in FINISHED
