"""Conversion of a trace to events of a replay: a PodGroup and its pods at each submission."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from traces.columns import GPU
from traces.draws import one_of
from traces.model import Role, Trace, TraceJob
from traces.requests import multiplied, summed
from traces.text import counted, exact

RUN_SECONDS = "queuecast/run-seconds"
GROUP_NAME = "scheduling.k8s.io/group-name"
NAMESPACE = "trace"
"""The namespace of the objects of a trace's jobs."""


@dataclass(frozen=True)
class PodSize:
    """The default requests of a pod.

    Attributes
    ----------
    base : mapping
        Kubernetes quantities by resource, for pods without known CPUs, memory or GPUs.
    cpu_per_gpu : int
        CPUs for each GPU.
    memory_per_gpu_gib : int
        Memory for each GPU, GiB.

    """

    base: Mapping[str, str] = field(default_factory=lambda: {"cpu": "4", "memory": "32Gi"})
    cpu_per_gpu: int = 4
    memory_per_gpu_gib: int = 32

    def requests(self, role: Role) -> dict[str, str]:
        """Return the request of a pod; the trace's own values come first."""
        gpus = int(role.requests.get(GPU, "0"))
        assumed = dict(self.base)
        if gpus:
            assumed = {"cpu": str(gpus * self.cpu_per_gpu), "memory": f"{gpus * self.memory_per_gpu_gib}Gi"}
        elif says_one_of_both(role):
            assumed = {"cpu": "0", "memory": "0"}
        return {**assumed, **role.requests}

    def notes(self, trace: Trace) -> list[str]:
        """Return what was assumed of the requests of how many jobs."""
        gpus = f"{self.cpu_per_gpu} cores and {self.memory_per_gpu_gib} GiB for each GPU"
        base = f"{self.base['cpu']} cores and {self.base['memory'].replace('Gi', ' GiB')}"
        counts = Counter(kind for job in trace.jobs for kind in {self._assumed(role) for role in job.roles})
        texts = {
            "gpus": f"{gpus} of pods of {{jobs}}, where CPUs or memory are unknown",
            "one": "no memory, or no CPUs, for pods of {jobs}, of which only the other is known",
            "base": f"{base} for each pod of {{jobs}}, of which neither is known",
        }
        return [
            f"Assumed: {text.format(jobs=counted(counts[kind], 'job'))}."
            for kind, text in texts.items()
            if counts[kind]
        ]

    def _assumed(self, role: Role) -> str:
        """Return what is assumed of a pod; empty if the trace says all."""
        if role.requests.keys() >= {"cpu", "memory"}:
            return ""
        if int(role.requests.get(GPU, "0")):
            return "gpus"
        return "one" if says_one_of_both(role) else "base"


def says_one_of_both(role: Role) -> bool:
    """Return whether a trace says the CPUs of pods, but not their memory, or the other way round."""
    return ("cpu" in role.requests) != ("memory" in role.requests)


def events_of(
    trace: Trace,
    *,
    size: PodSize | None = None,
    default_run_seconds: float = 3600.0,
    taken: Collection[str] = (),
) -> tuple[list[dict[str, Any]], list[str]]:
    """Return the events of a replay, and the assumptions made.

    A job whose run time the trace does not give runs as long as one of its queue's jobs, which its name
    draws, else `default_run_seconds`. A job that was submitted at a negative time runs
    since then, and for what remains of its run time.

    Parameters
    ----------
    trace : Trace
        A workload whose queues are those of the cluster.
    size : PodSize, optional
        What pods request where the trace does not say.
    default_run_seconds : float
        The run time of jobs of a queue of which no run time is known.
    taken : collection of str
        Names that no job's objects may have in the namespace `NAMESPACE`, where they are created.

    """
    known: dict[str, list[float]] = {}
    for job in trace.jobs:
        if job.run_seconds is not None:
            known.setdefault(job.queue, []).append(job.run_seconds)
    names = object_names((job.name for job in trace.jobs), taken)
    events, assumed, guessed = [], 0, 0
    for job, name in zip(trace.jobs, names, strict=True):
        run = job.run_seconds
        if run is None:
            like = known.get(job.queue)
            assumed, guessed = assumed + (like is not None), guessed + (like is None)
            run = default_run_seconds if like is None else one_of(like, "run time", job.name)
        events.append(_arrival(job, name, run + min(job.submitted, 0.0), size or PodSize()))
    notes = [*trace.notes, *(size or PodSize()).notes(trace)]
    unknown = "Assumed: jobs whose run time is unknown run"
    if assumed:
        notes.append(f"{unknown} as long as another job of their queue ({counted(assumed, 'job')}).")
    if guessed:
        notes.append(f"{unknown} for {exact(default_run_seconds)} s ({counted(guessed, 'job')}).")
    return events, notes


def object_names(jobs: Iterable[str], taken: Collection[str] = ()) -> list[str]:
    """Return the name of the PodGroup of each job, in order; one that is taken gets a number.

    Examples
    --------
    >>> object_names(["ml/train", "ml-train", "eval"], {"eval"})
    ['ml-train', 'ml-train-2', 'eval-2']

    """
    used = set(taken)
    numbers: dict[str, int] = {}
    found = []
    for job in jobs:
        wanted = name = dns_name(job)
        while name in used:
            numbers[wanted] = numbers.get(wanted, 1) + 1
            name = f"{wanted}-{numbers[wanted]}"
        used.add(name)
        found.append(name)
    return found


def _arrival(job: TraceJob, name: str, run: float, size: PodSize) -> dict[str, Any]:
    roles = [(role, size.requests(role)) for role in job.roles]
    least = job.min_resources
    if least is None:
        least = _least(((role.pods, requests) for role, requests in roles), job.min_member)
    reserved = {"minResources": dict(least)} if least else {}
    spec = {"minMember": job.min_member, "queue": job.queue, **reserved, **_priority(job)}
    group = {
        "metadata": {
            "name": name,
            "namespace": NAMESPACE,
            "annotations": {**job.annotations, RUN_SECONDS: exact(run)},
        },
        "spec": spec,
        "status": {"phase": "Pending"},
    }
    pods: list[dict[str, Any]] = []
    for role, requests in roles:
        pod_spec = {**_priority(job), **(role.constraints or {})}
        numbers = range(len(pods), len(pods) + role.pods)
        annotations = {**role.annotations, GROUP_NAME: name}
        pods += [_pod(f"{name}-{number}", annotations, requests, pod_spec) for number in numbers]
    return {"at": job.submitted, "create": {"podgroups": [group], "pods": pods}}


def _least(roles: Iterable[tuple[int, Mapping[str, str]]], members: int) -> dict[str, str]:
    """Return the request of the first pods of roles, as many as must run at once."""
    parts: dict[str, list[str]] = {}
    for pods, requests in roles:
        count = min(pods, members)
        members -= count
        for resource, amount in requests.items() if count else ():
            parts.setdefault(resource, []).append(multiplied(amount, count))
    return {resource: summed(amounts) for resource, amounts in parts.items()}


def _priority(job: TraceJob) -> dict[str, str]:
    return {"priorityClassName": job.priority_class} if job.priority_class else {}


def _pod(
    name: str, annotations: Mapping[str, str], requests: Mapping[str, str], spec: Mapping[str, Any]
) -> dict[str, Any]:
    return {
        "metadata": {"name": name, "namespace": NAMESPACE, "annotations": dict(annotations)},
        "spec": {
            "schedulerName": "volcano",
            "containers": [{"name": "main", "image": "trace", "resources": {"requests": dict(requests)}}],
            **spec,
        },
        "status": {"phase": "Pending"},
    }


def dns_name(text: str) -> str:
    """Return a valid Kubernetes name.

    Examples
    --------
    >>> dns_name("application_1506638472019_14199")
    'application-1506638472019-14199'

    """
    return re.sub(r"[^a-z0-9-]+", "-", text.lower()).strip("-")[:200].rstrip("-") or "job"
