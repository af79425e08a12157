"""The jobs of a forecast that can never start, as their pods fit no node, not even an empty one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from planning.forecasts.demand import GROUP_NAME, created, events_of, namespace_of
from planning.forecasts.jobs import Jobs
from scheduler_core import Options, prepare
from scheduler_core.conf import parse_conf
from scheduler_core.model.fit import summary
from scheduler_core.model.pod import PodShape, ShapeTable

Json = Mapping[str, Any]

MOST_EXAMINED = 20
"""The most kinds of pods that are examined, those of most jobs first."""
_BY_TIME_OR_QUEUE = ("tdm", "extender", "nodegroup")
"""With one of these plugins the answer of a node may change while it stays as it is."""
_NAMESPACE, _NAME = "queuecast", "fits-no-node"


@dataclass(frozen=True)
class Unschedulable:
    """Jobs of one queue whose pods fit no node.

    Attributes
    ----------
    queue : str
    jobs : int
    job : str
        The one submitted first.
    submitted : float
        When that was, in seconds.
    nodes : str
        Why, in the words of the scheduler, for the pods of that job.

    """

    queue: str
    jobs: int
    job: str
    submitted: float
    nodes: str


def unschedulable_jobs(document: Json, jobs: Jobs) -> tuple[Unschedulable, ...]:
    """Return the jobs that never start as too few of their pods fit a node, by queue.

    Each kind of pod is tried on every node that the forecast ever has, without any other pods. Sound, as pods
    only take amounts and ports from others and repel them; kinds with affinity to other pods are left out,
    and so are pods that Jobs create. Empty where the configuration may change the answer of a node.

    Parameters
    ----------
    document : mapping
        The document of the replay.
    jobs : Jobs
        The jobs of its result.

    """
    waiting = np.flatnonzero(np.isnan(jobs.started) & np.isnan(jobs.over)).tolist()
    row_of = {jobs.names[row]: row for row in waiting}
    if not row_of or _answers_change(document):
        return ()
    shapes = ShapeTable(default_requests=document.get("admission_defaults") is not False)
    pods = _pods_by_shape(document, row_of.keys(), shapes)
    refused = _refused_kinds(document, jobs, row_of, pods, shapes)
    found: dict[str, list[int]] = {}
    for name, counts in pods.items():
        row = row_of[name]
        fitting = sum(count for number, count in counts.items() if (jobs.queues[row], number) not in refused)
        if fitting < jobs.minimum[row]:
            found.setdefault(jobs.queues[row], []).append(row)
    return tuple(_of_queue(jobs, rows, pods, refused) for _, rows in sorted(found.items()))


def _of_queue(
    jobs: Jobs,
    rows: list[int],
    pods: Mapping[str, Counter[int]],
    refused: Mapping[tuple[str, int], str],
) -> Unschedulable:
    first = min(rows, key=lambda row: (jobs.submitted[row], jobs.names[row]))
    name, queue = jobs.names[first], jobs.queues[first]
    nodes = next(refused[queue, number] for number in pods[name] if (queue, number) in refused)
    return Unschedulable(queue, len(rows), name, float(jobs.submitted[first]), nodes)


def _answers_change(document: Json) -> bool:
    """Return whether a node may answer otherwise at another time, although it is the same."""
    conf = parse_conf(document.get("scheduler_conf"))
    return any(conf.first_option(plugin) is not None for plugin in _BY_TIME_OR_QUEUE) or any(
        "scheduler_conf" in event for event in events_of(document)
    )


def _pods_by_shape(document: Json, names: Iterable[str], shapes: ShapeTable) -> dict[str, Counter[int]]:
    """Return how many pods of each shape some jobs have, by the key of the PodGroup."""
    found: dict[str, Counter[int]] = {}
    wanted = frozenset(names)
    for pod in created(document, "pods"):
        group = (pod["metadata"].get("annotations") or {}).get(GROUP_NAME)
        key = f"{namespace_of(pod)}/{group}"
        if key in wanted:
            shape = shapes.shape_of(pod.get("spec") or {})
            found.setdefault(key, Counter())[shape.number] += 1
    return found


def _refused_kinds(
    document: Json,
    jobs: Jobs,
    row_of: Mapping[str, int],
    pods: Mapping[str, Counter[int]],
    shapes: ShapeTable,
) -> dict[tuple[str, int], str]:
    """Return why the nodes refuse pods, by queue and shape, where all of them do."""
    of_number = {shape.number: shape for shape in shapes.shapes.values()}
    counts = Counter(
        (jobs.queues[row_of[name]], number) for name, of_job in pods.items() for number in of_job
    )
    kinds = [kind for kind in counts if not _follows_pods(of_number[kind[1]].spec)]
    kinds.sort(key=lambda kind: (-counts[kind], kind))
    empty = {
        name: value
        for name, value in document.items()
        if name not in ("replay", "pods", "podgroups", "jobs", "evicted")
    }
    prepared = prepare({**empty, "nodes": list(_all_nodes(document))})
    refused = {}
    for queue, number in kinds[:MOST_EXAMINED]:
        answer = prepared.fitting(f"{_NAMESPACE}/{_NAME}", _probe(queue, of_number[number]), Options())
        nodes = answer.get("nodes") or ()
        if answer.get("refusal") == "" and not any(node["fits"] for node in nodes):
            reasons = Counter(reason for node in nodes for reason in node["reasons"])
            refused[queue, number] = summary(len(nodes), reasons)
    return refused


def _follows_pods(spec: Json) -> bool:
    """Return whether a pod must run beside others."""
    return bool((spec.get("affinity") or {}).get("podAffinity"))


def _all_nodes(document: Json) -> Iterator[Json]:
    """Yield every node that a replay ever has; one that is replaced once more under another name."""
    yield from created(document, "nodes")
    for number, event in enumerate(events_of(document)):
        for node in (event.get("replace") or {}).get("nodes") or ():
            metadata = node["metadata"]
            yield {**node, "metadata": {**metadata, "name": f"{metadata['name']}-replaced-{number}"}}


def _probe(queue: str, shape: PodShape) -> dict[str, Any]:
    """Return a job with one pod of a shape."""
    group = {
        "metadata": {"name": _NAME, "namespace": _NAMESPACE},
        "spec": {"minMember": 1, "queue": queue},
        "status": {"phase": "Inqueue"},
    }
    spec = {name: value for name, value in shape.spec.items() if name not in ("nodeName", "schedulingGates")}
    pod = {
        "metadata": {"name": _NAME, "namespace": _NAMESPACE, "annotations": {GROUP_NAME: _NAME}},
        "spec": spec,
        "status": {"phase": "Pending"},
    }
    return {"podgroups": [group], "pods": [pod]}
