"""Run times of a snapshot's jobs: declared, else those of jobs like them, else a default.

Each job runs as long as one of the jobs like it, which its name draws. Their median would be too short: a few
long jobs keep most of a cluster's nodes. A draw by name is the same in all variants of a scenario.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from planning.documents import clock_of, items
from planning.forecasts.clock import instant, spelled
from planning.forecasts.past_jobs import has_ended, past_jobs
from scheduler_core.model.run_annotations import RUN_SECONDS
from traces.draws import one_of
from traces.kubernetes import key_of, members_of, owning_jobs, run_seconds_of, with_ended
from traces.text import counted, exact

Json = Mapping[str, Any]
Alike = tuple[str, str, str, str]
"""What similar jobs have in common: kind of owner, name pattern, queue, requests."""

ANNOTATION, ALIKE, QUEUE, TRACE = "annotation", "similar_jobs", "queue", "trace"
DEFAULT, ENDLESS, TWICE = "default", "endless", "twice"
SOURCES = {
    ANNOTATION: "annotation queuecast/run-seconds",
    ALIKE: "one of the finished jobs of the same owner kind, name pattern, queue and requests",
    QUEUE: "one of the finished jobs of the same queue",
    TRACE: "one of the jobs of the trace in the same queue",
    TWICE: "twice what the job has run: where no such job ran longer, or without any after half the default",
    DEFAULT: "default of the forecast",
    ENDLESS: "pods of a Deployment, StatefulSet or DaemonSet, or with restartPolicy Always",
}
_SERVICES = ("ReplicaSet", "Deployment", "StatefulSet", "DaemonSet")
_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


@dataclass(frozen=True)
class RunTime:
    """The run time of one job of the snapshot.

    Attributes
    ----------
    job : str
        ``namespace/name`` of its PodGroup.
    queue : str
    seconds : float or None
        None: it never ends.
    source : str
        One of `SOURCES`.
    samples : int
        The number of jobs from which it was drawn: those that ran longer than the job has run so far.

    """

    job: str
    queue: str
    seconds: float | None
    source: str
    samples: int = 0


class _Finished(NamedTuple):
    """The run times of jobs that have ended, each list ascending once it is sorted."""

    alike: dict[Alike, list[float]]
    of_queue: dict[str, list[float]]
    of_trace: dict[str, list[float]]

    def sort(self) -> None:
        """Sort all lists."""
        for lists in self:
            for times in lists.values():
                times.sort()

    def like(self, group: Json, pods: Sequence[Json]) -> Iterator[tuple[str, Sequence[float]]]:
        """Yield the run times of jobs like one, and where they are from; the best first."""
        yield ALIKE, self.alike.get(_alike(group, pods), ())
        yield QUEUE, self.of_queue.get(_queue(group), ())
        yield TRACE, self.of_trace.get(_queue(group), ())


def run_times(
    document: Json, default: float, of_trace: Mapping[str, Sequence[float]] | None = None, *, seed: int = 0
) -> list[RunTime]:
    """Return the run time of every job that has not finished, by name.

    Parameters
    ----------
    document : mapping
        The scenario.
    default : float
        The run time of jobs without any like them, in seconds.
    of_trace : mapping, optional
        The run times of the jobs of a trace, by queue of the scenario, in seconds.
    seed : int
        Another seed draws other run times.

    """
    groups, pods_of_all, jobs = (items(document.get(name)) for name in ("podgroups", "pods", "jobs"))
    members = members_of(pods_of_all)
    finished = _Finished({}, {}, {name: [*times] for name, times in (of_trace or {}).items()})
    open_jobs = []
    there = {key_of(group) for group in groups} - past_jobs(document)
    for group in with_ended(groups, pods_of_all, jobs):
        pods = members.get(key_of(group), ())
        seconds = run_seconds_of(pods) if pods else None
        if seconds is None and key_of(group) in there:
            open_jobs.append((group, pods))
        elif seconds is not None:
            finished.alike.setdefault(_alike(group, pods), []).append(seconds)
            finished.of_queue.setdefault(_queue(group), []).append(seconds)
    finished.sort()
    grouped = {job for group in groups for job in owning_jobs(group)}
    waiting = [(_group_of(job), ()) for job in jobs if not has_ended(job) and key_of(job) not in grouped]
    now = instant(clock_of(document))
    found = [
        _run_time(group, pods, finished, default, _seconds_so_far(pods, now), seed)
        for group, pods in (*open_jobs, *waiting)
    ]
    return sorted(found, key=lambda entry: entry.job)


def _seconds_so_far(pods: Iterable[Json], now: datetime | None) -> float:
    """Return for how long the first of a job's running pods has run; 0 if none runs or says since when."""
    statuses = [pod.get("status") or {} for pod in pods]
    starts = [
        instant(str(status.get("startTime") or "")) for status in statuses if status.get("phase") == "Running"
    ]
    return max(((now - start).total_seconds() for start in starts if now and start), default=0.0)


def _group_of(job: Json) -> dict[str, Any]:
    """Return the features of a Job's PodGroup that tell its run time: its queue and its pods."""
    tasks = (job.get("spec") or {}).get("tasks") or [{}]
    template = tasks[0].get("template") or {}
    annotations = {**_annotations({"metadata": template.get("metadata") or {}}), **_annotations(job)}
    owner = {"kind": "Job", "name": job["metadata"]["name"]}
    return {
        "metadata": {**job["metadata"], "annotations": annotations, "ownerReferences": [owner]},
        "spec": {**(template.get("spec") or {}), "queue": (job.get("spec") or {}).get("queue")},
    }


def _run_time(
    group: Json,
    pods: Sequence[Json],
    finished: _Finished,
    default: float,
    so_far: float,
    seed: int,
) -> RunTime:
    job, queue = key_of(group), _queue(group)
    if any(RUN_SECONDS in _annotations(thing) for thing in (group, *pods)):
        given = _annotations(group).get(RUN_SECONDS)
        return RunTime(job, queue, None if given is None else float(given), ANNOTATION)
    if _owner_kind(group, pods) in _SERVICES or any(map(_restarts_for_ever, pods)):
        return RunTime(job, queue, None, ENDLESS)
    for source, samples in finished.like(group, pods):
        longer = range(bisect_right(samples, so_far), len(samples))
        if longer:
            drawn = samples[one_of(longer, seed, job, "run time")]
            return RunTime(job, queue, drawn, source, len(longer))
        if samples:
            return RunTime(job, queue, 2 * so_far, TWICE)
    if default < 2 * so_far:
        return RunTime(job, queue, 2 * so_far, TWICE)
    return RunTime(job, queue, default, DEFAULT)


def _restarts_for_ever(pod: Json) -> bool:
    """Return whether a pod says that its containers are restarted however they end."""
    return (pod.get("spec") or {}).get("restartPolicy") == "Always"


def with_run_times(document: Json, found: Iterable[RunTime]) -> dict[str, Any]:
    """Return the document with the run times written to PodGroups and Jobs that do not declare them."""
    seconds = {
        entry.job: entry.seconds
        for entry in found
        if entry.source != ANNOTATION and entry.seconds is not None
    }
    groups = [
        _annotated(group, seconds[key_of(group)]) if key_of(group) in seconds else group
        for group in items(document.get("podgroups"))
    ]
    jobs = [
        _annotated(job, seconds[key_of(job)]) if key_of(job) in seconds else job
        for job in items(document.get("jobs"))
    ]
    return {**document, "podgroups": groups, **({"jobs": jobs} if jobs else {})}


def sources_of(found: Iterable[RunTime]) -> dict[str, int]:
    """Return the number of jobs by source of their run time."""
    counts = Counter(entry.source for entry in found)
    return {source: counts[source] for source in SOURCES if counts[source]}


def notes_of(found: Sequence[RunTime], default: float) -> list[str]:
    """Return the assumptions about run times, as notes of a result."""
    assumed = {
        ALIKE: "run times drawn from those of finished jobs like them",
        QUEUE: "run times drawn from those of finished jobs of the same queue",
        TRACE: "run times drawn from those of the trace's jobs in the same queue",
        TWICE: "twice what the job has run so far",
        DEFAULT: f"a run time of {spelled(default)}",
        ENDLESS: "no end, as Deployments, StatefulSets, DaemonSets and pods that always restart have none",
    }
    return [
        f"Assumed for {counted(count, 'job')} of the snapshot: {assumed[source]}."
        for source, count in sources_of(found).items()
        if source in assumed
    ]


def _alike(group: Json, pods: Sequence[Json]) -> Alike:
    containers = ((pods[0] if pods else group).get("spec") or {}).get("containers") or ()
    requests = [(container.get("resources") or {}).get("requests") or {} for container in containers]
    written = "; ".join(
        ", ".join(f"{name}={amount}" for name, amount in sorted(one.items())) for one in requests
    )
    kind, pattern = _owner_kind(group, pods), name_pattern(group["metadata"]["name"])
    if kind == "Job" and pods:
        pattern = pattern.removesuffix("-#")  # a Job's PodGroup is named <job>-<uid>
    return kind, pattern, _queue(group), written


def name_pattern(name: str) -> str:
    """Return the pattern that the names of similar jobs share.

    >>> name_pattern("train-17-7c9e6679-7425-40de-944b-e07fc1f90ae7"), name_pattern("etl-2026-11-22")
    ('train-#-#', 'etl-#-#-#')
    """
    return re.sub(r"\d+", "#", _UUID.sub("#", name))


def _owner_kind(group: Json, pods: Sequence[Json]) -> str:
    for thing in (*pods[:1], group):
        for owner in thing["metadata"].get("ownerReferences") or ():
            return str(owner.get("kind") or "")
    return ""


def _queue(group: Json) -> str:
    return str((group.get("spec") or {}).get("queue") or "default")


def _annotations(thing: Json) -> Mapping[str, str]:
    return thing["metadata"].get("annotations") or {}


def _annotated(thing: Json, seconds: float) -> dict[str, Any]:
    annotations = {**_annotations(thing), RUN_SECONDS: exact(seconds)}
    return {**thing, "metadata": {**thing["metadata"], "annotations": annotations}}
