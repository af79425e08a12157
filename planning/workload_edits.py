"""Edits of workloads: what each does to the objects that a workload is made of."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from planning.rows import Problem
from planning.states import Json, ObjectKey, object_key
from planning.workload_copies import Naming, waiting_copy
from planning.workload_fields import JOBS, PODGROUPS, PODS, changed_manifest, usage
from planning.workloads import Workloads
from scheduler_core.controllers.usage import add, as_quantities
from scheduler_core.controllers.vcjob import Task, VolcanoJob

Wanted = dict[ObjectKey, Mapping[str, Any] | None]


class WorkloadEdits(Workloads):
    """The workloads of one state of a scenario, and the edits of them."""

    def removed(self, kind: str, key: str) -> Wanted:
        """Return the edit that removes a workload with all its objects."""
        return dict.fromkeys(self.parts(kind, key))

    def copied(self, kind: str, key: str, count: int) -> Wanted:
        """Return the edit that adds waiting copies: on no node, not yet started."""
        wanted: Wanted = {}
        namespace, _, name = key.partition("/")
        group = self._group(kind, key).partition("/")[2]
        parts = list(self.parts(kind, key))
        for new_name in self._free_names(kind, key, count):
            naming = Naming.of(namespace, name, new_name, group)
            for part_kind, part in parts:
                twin = self._copy(part_kind, part, naming)
                wanted[part_kind, object_key(part_kind, twin)] = twin
        return wanted

    def problems(self, kind: str, key: str, fields: Mapping[str, Any]) -> Iterator[Problem]:
        """Yield why a workload cannot have these valid fields."""
        replicas = fields.get("replicas")
        if kind == PODS:
            for name in sorted({"minMember", "replicas"} & fields.keys()):
                message = f"A single pod has no {name}."
                fix = "Copy the pod, or change a PodGroup or a vcjob."
                yield _problem("workload.field", kind, key, name, fields[name], message, fix)
        elif kind == PODGROUPS and replicas and not self._alive(key):
            message, fix = "The PodGroup has no pod to copy.", "Add a pod of this PodGroup first."
            yield _problem("workload.no_pod", kind, key, "replicas", replicas, message, fix)
        elif kind == JOBS and replicas is not None:
            others = sum(task.replicas for task in VolcanoJob(self.jobs[key], "").tasks[1:])
            if replicas < others:
                message = f"The other tasks of the job have {others} pods, and only the first one is changed."
                fix = f"Write at least {others}."
                yield _problem("number.range", kind, key, "replicas", replicas, message, fix)

    def changed(self, kind: str, key: str, fields: Mapping[str, Any]) -> Wanted:
        """Return the edit that changes fields of a workload in all its objects.

        Of a vcjob with several tasks, replicas and requests are those of the first.
        """
        wanted: Wanted = {}
        tasks = VolcanoJob(self.jobs[key], "").tasks if kind == JOBS else []
        elsewhere = self._pods_of(key, tasks[1:])
        for part_kind, part in self.parts(kind, key):
            before = self._objects.get(part_kind, part)
            assert before is not None, "parts are there"
            left_out = "requests" if part_kind == PODS and part in elsewhere else ""
            own = {name: value for name, value in fields.items() if name != left_out}
            wanted[part_kind, part] = changed_manifest(part_kind, before, own)
        group = self._group(kind, key)
        if "replicas" in fields and kind == JOBS:
            self._shrink(wanted, key, fields["replicas"] - sum(task.replicas for task in tasks[1:]))
        elif group and "replicas" in fields:
            self._resize(wanted, group, fields["replicas"])
        if group and {"requests", "minMember"} & fields.keys():
            self._least(wanted, kind, key)
        return wanted

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

    def _shrink(self, wanted: Wanted, key: str, replicas: int) -> None:
        """Remove the pods of a vcjob's first task that its controller removes: those of the last indices."""
        first = self._pods_of(key, VolcanoJob(self.jobs[key], "").tasks[:1])
        gone = (pod for pod, index in first.items() if index >= replicas and not self._is_over(pod))
        wanted.update(((PODS, pod), None) for pod in gone)

    def _resize(self, wanted: Wanted, group: str, replicas: int) -> None:
        """Add waiting pods like the first one, or remove pods, waiting ones first."""
        members = self._alive(group)
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
            own = group.partition("/")[2]
            twin = self._copy(PODS, members[0], Naming(first, f"{first}-more-{number}", own, own))
            like = wanted.get((PODS, members[0])) or {}
            twin["spec"] = {**(like.get("spec") or twin["spec"])}
            twin["spec"].pop("nodeName", None)
            wanted[PODS, f"{namespace}/{first}-more-{number}"] = twin

    def _copy(self, kind: str, key: str, naming: Naming) -> Json:
        now = self._objects.content.document.get("now")
        return waiting_copy(kind, self._objects.get(kind, key) or {}, naming, now)

    def _pods_of(self, key: str, tasks: Sequence[Task]) -> dict[str, int]:
        """Return the index of each pod of these tasks of a vcjob, by the names that its controller gives."""
        begins = [f"{key}-{task.name}-" for task in tasks]
        return {
            pod: int(rest)
            for pod in self._members.get(self._group(JOBS, key), ())
            for begin in begins
            if pod.startswith(begin) and (rest := pod.removeprefix(begin)).isdecimal()
        }

    def _least(self, wanted: Wanted, kind: str, key: str) -> None:
        """Recalculate minResources from the gang's requests, if the PodGroup has it."""
        group = self._group(kind, key)
        podgroup = wanted.get((PODGROUPS, group))
        spec = (podgroup or {}).get("spec") or {}
        if podgroup is None or "minResources" not in spec:
            return
        total: dict[str, Any] = {}
        if kind == JOBS:
            classes = self._objects.of_kind("priorityclasses")
            values = {name: int(entry.get("value") or 0) for name, entry in classes.items()}
            total = VolcanoJob(wanted[JOBS, key] or {}, "").min_resources(values)
        elif pods := [pod for member in self._members.get(group, ()) if (pod := wanted.get((PODS, member)))]:
            add(total, usage(pods[0].get("spec") or {}), int(spec.get("minMember") or 0))
        else:
            return
        wanted[PODGROUPS, group] = {**podgroup, "spec": {**spec, "minResources": as_quantities(total)}}


def _problem(rule: str, kind: str, key: str, field: str, actual: Any, message: str, fix: str) -> Problem:
    return Problem(rule, "error", message, path=f"{kind}.{key}.{field}", actual=actual, fix=fix)
