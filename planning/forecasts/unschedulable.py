"""The jobs of a forecast that can never start, as their pods fit no node, not even an empty one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

import numpy as np

from planning.forecasts.demand import created, events_of, namespace_of
from planning.forecasts.jobs import Jobs
from scheduler_core import Options, prepare
from scheduler_core.conf import parse_conf
from scheduler_core.model.fit import summary
from scheduler_core.model.pod import PodShape, ShapeTable
from traces.kubernetes import GROUP_NAME

Json = Mapping[str, Any]

MOST_EXAMINED = 20
"""The most kinds of pods that are examined, those of most jobs first."""
_BY_TIME_OR_QUEUE = ("tdm", "extender", "nodegroup")
"""With one of these plugins the answer of a node may change while it stays as it is."""
_FREED_BY_PODS = "proportional of resource "
"""How a reason begins that does not hold once other pods took the devices of the node."""
_HAS_A_NODE = -1
"""Instead of the shape of a pod that is bound or has succeeded."""
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
    only take amounts and ports from others and repel them; kinds with affinity to other pods, and those from
    which a node keeps CPU and memory for idle devices, are left out, and so are pods that Jobs create. Pods
    of the snapshot that have a node fit. Empty where the configuration may change the answer of a node.

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
    since = jobs.there_from
    first = min(rows, key=lambda row: (since[row], jobs.names[row]))
    name, queue = jobs.names[first], jobs.queues[first]
    nodes = next(refused[queue, number] for number in pods[name] if (queue, number) in refused)
    return Unschedulable(queue, len(rows), name, float(since[first]), nodes)


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
            spec, phase = pod.get("spec") or {}, (pod.get("status") or {}).get("phase")
            has_a_node = spec.get("nodeName") or phase == "Succeeded"
            number = _HAS_A_NODE if has_a_node else shapes.shape_of(spec).number
            found.setdefault(key, Counter())[number] += 1
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
    kinds = [kind for kind in counts if kind[1] != _HAS_A_NODE and not _follows_pods(of_number[kind[1]].spec)]
    kinds.sort(key=lambda kind: (-counts[kind], kind))
    empty = {
        name: value
        for name, value in document.items()
        if name not in ("replay", "pods", "podgroups", "jobs", "evicted")
    }
    clusters = [prepare({**empty, "nodes": nodes}) for nodes in _generations(document)]
    refused = {}
    for queue, number in kinds[:MOST_EXAMINED]:
        probe = _probe(queue, of_number[number])
        answers = [one.fitting(f"{_NAMESPACE}/{_NAME}", probe, Options()) for one in clusters]
        nodes = [node for answer in answers for node in answer.get("nodes") or ()]
        if all(answer.get("refusal") == "" for answer in answers) and not any(map(_may_fit, nodes)):
            reasons = Counter(reason for node in nodes for reason in node["reasons"])
            refused[queue, number] = summary(len(nodes), reasons)
    return refused


def _may_fit(node: Json) -> bool:
    """Return whether a pod fits an empty node, or may fit it beside other pods."""
    return bool(node["fits"]) or any(reason.startswith(_FREED_BY_PODS) for reason in node["reasons"])


def _follows_pods(spec: Json) -> bool:
    """Return whether a pod must run beside others."""
    return bool((spec.get("affinity") or {}).get("podAffinity"))


def _generations(document: Json) -> list[list[Json]]:
    """Return every node that a replay ever has, in lists in which no name occurs twice.

    A node that is replaced keeps its status.
    """
    forms: dict[str, list[Json]] = {}
    for node in created(document, "nodes"):
        forms.setdefault(node["metadata"]["name"], []).append(node)
    for event in events_of(document):
        for node in (event.get("replace") or {}).get("nodes") or ():
            there = forms.get(node["metadata"]["name"], [])
            replaced = [{**node, "status": one.get("status") or {}} for one in there]
            there += [one for one in replaced if one not in there]
    return [[node for node in nodes if node] for nodes in zip_longest(*forms.values())] or [[]]


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
