"""The workloads of a scenario, as a run would see them, and edits of them.

A workload is a vcjob with its podgroup and pods, a podgroup with its pods, or a pod that has no podgroup.
"""

import copy
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from planning.amounts import read_amounts
from planning.contents import Objects
from planning.nodes import FINISHED
from planning.rows import Amounts, Quantities
from planning.states import Json, ObjectKey
from planning.workload_fields import (
    DEFAULT,
    JOBS,
    PODGROUPS,
    PODS,
    QUEUE_NAME,
    SERVER_MADE,
    changed_manifest,
    renamed,
    requests_of,
    usage,
)
from scheduler_core.controllers.usage import add, as_quantities
from scheduler_core.controllers.vcjob import OVER
from scheduler_core.model.pod_info import GROUP_NAME

Wanted = dict[ObjectKey, Mapping[str, Any] | None]


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

    def removed(self, kind: str, key: str) -> Wanted:
        """Return the edit that removes a workload with all its objects."""
        return dict.fromkeys(self.parts(kind, key))

    def copied(self, kind: str, key: str, count: int) -> Wanted:
        """Return the edit that adds waiting copies: on no node, not yet started."""
        wanted: Wanted = {}
        parts = list(self.parts(kind, key))
        for name in self._free_names(kind, key, count):
            for part_kind, part in parts:
                twin = self._twin(part_kind, part, key.partition("/")[2], name)
                wanted[part_kind, f"{twin['metadata']['namespace']}/{twin['metadata']['name']}"] = twin
        return wanted

    def changed(self, kind: str, key: str, fields: Mapping[str, Any]) -> Wanted:
        """Return the edit that changes fields of a workload in all its objects."""
        wanted: Wanted = {}
        for part_kind, part in self.parts(kind, key):
            before = self._objects.get(part_kind, part)
            assert before is not None, "parts are there"
            wanted[part_kind, part] = changed_manifest(part_kind, before, fields)
        group = self._group(kind, key)
        if group and "replicas" in fields and kind != JOBS:
            self._resize(wanted, group, fields["replicas"])
        if group and {"requests", "minMember"} & fields.keys():
            self._least(wanted, group)
        return wanted

    def _sort(self) -> None:
        schedulers = self._objects.content.document.get("scheduler_names") or ["volcano"]
        for key, podgroup in self.podgroups.items():
            for owner in podgroup["metadata"].get("ownerReferences") or ():
                job = f"{key.partition('/')[0]}/{owner.get('name')}"
                if owner.get("kind") == "Job" and job in self.jobs:
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

    def _free_names(self, kind: str, key: str, count: int) -> list[str]:
        namespace, _, name = key.partition("/")
        taken = {JOBS: self.jobs, PODGROUPS: self.podgroups, PODS: self.pods}[kind]
        names: list[str] = []
        number = 0
        while len(names) < count:
            number += 1
            if f"{namespace}/{name}-copy-{number}" not in taken:
                names.append(f"{name}-copy-{number}")
        return names

    def _twin(self, kind: str, key: str, name: str, new_name: str) -> Json:
        """Return a waiting copy of an object with another name of the workload."""
        given = self._objects.get(kind, key)
        twin: Json = copy.deepcopy(dict(given or {}))
        metadata = {part: value for part, value in twin["metadata"].items() if part not in SERVER_MADE}
        metadata["namespace"] = metadata.get("namespace") or DEFAULT
        metadata["name"] = renamed(metadata["name"], name, new_name)
        annotations = metadata.get("annotations") or {}
        if GROUP_NAME in annotations:
            annotations[GROUP_NAME] = renamed(annotations[GROUP_NAME], name, new_name)
        for owner in metadata.get("ownerReferences") or ():
            if owner.get("name") == name:
                owner["name"] = new_name
                owner.pop("uid", None)
        if now := self._objects.content.document.get("now"):
            metadata["creationTimestamp"] = now
        twin["metadata"] = metadata
        twin["status"] = {} if kind == JOBS else {"phase": "Pending"}
        if kind == PODS:
            twin["spec"] = {part: value for part, value in twin["spec"].items() if part != "nodeName"}
        return twin

    def _resize(self, wanted: Wanted, group: str, replicas: int) -> None:
        """Add waiting pods like the first one, or remove pods, waiting ones first."""
        members = [key for key in self._members.get(group, ()) if not self._is_over(key)]
        waiting_last = sorted(members, key=lambda key: not (self.pods[key].get("spec") or {}).get("nodeName"))
        wanted.update(((PODS, key), None) for key in waiting_last[replicas:])
        if not members:
            return
        namespace, _, first = members[0].partition("/")
        number = 0
        for _ in range(replicas - len(members)):
            number += 1
            while f"{namespace}/{first}-more-{number}" in self.pods:
                number += 1
            twin = self._twin(PODS, members[0], first, f"{first}-more-{number}")
            twin["metadata"]["annotations"][GROUP_NAME] = group.partition("/")[2]
            like = wanted.get((PODS, members[0])) or {}
            twin["spec"] = {**(like.get("spec") or twin["spec"])}
            twin["spec"].pop("nodeName", None)
            wanted[PODS, f"{namespace}/{first}-more-{number}"] = twin

    def _is_over(self, key: str) -> bool:
        return (self.pods[key].get("status") or {}).get("phase") in FINISHED

    def _least(self, wanted: Wanted, group: str) -> None:
        """Recalculate minResources from the gang's requests, if the PodGroup has it."""
        podgroup = wanted.get((PODGROUPS, group))
        spec = (podgroup or {}).get("spec") or {}
        members = [key for key in self._members.get(group, ()) if wanted.get((PODS, key))]
        if podgroup is None or "minResources" not in spec or not members:
            return
        pod = wanted[PODS, members[0]] or {}
        total: dict[str, Any] = {}
        add(total, usage(pod.get("spec") or {}), int(spec.get("minMember") or 0))
        wanted[PODGROUPS, group] = {**podgroup, "spec": {**spec, "minResources": as_quantities(total)}}
