"""The jobs of a forecast that can never start, as too few of their pods fit even empty nodes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

import numpy as np

from planning.forecasts.demand import created, events_of, namespace_of, pods_of_jobs
from planning.forecasts.jobs import Jobs
from planning.forecasts.queue_limits import above_limit, highest_limits
from planning.forecasts.steps import Steps
from scheduler_core import Options, prepare
from scheduler_core.conf import parse_conf
from scheduler_core.model.allocatable import allocatable_of
from scheduler_core.model.fit import summary
from scheduler_core.model.pod import PodShape, ShapeTable
from scheduler_core.resource import MIN_RESOURCE, Resource
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


Kind = tuple[str, int]
"""Pods of one queue with one shape, by its number."""


@dataclass(frozen=True)
class Room:
    """How many pods of a kind fit all nodes of a forecast at most, and why others refuse it."""

    pods: int
    refusal: str


@dataclass(frozen=True)
class Unschedulable:
    """Jobs of one queue of whose pods too few fit the nodes.

    Attributes
    ----------
    queue : str
    cause : str
        `no_node`: too few pods fit any node; `no_room`: too few fit all nodes together; `limit`: they request
        more than the capability of the queue.
    jobs : int
    job : str
        The one submitted first.
    submitted : float
        When that was, in seconds.
    nodes : str
        Why, in the words of the scheduler, for the pods of that job; for `no_room` how many fit, for
        `limit` what they request.

    """

    queue: str
    jobs: int
    job: str
    submitted: float
    nodes: str
    cause: str = "no_node"


def unschedulable_jobs(
    document: Json,
    jobs: Jobs,
    vcjobs: Mapping[str, Json],
    limits: Mapping[str, Mapping[str, Steps]],
) -> tuple[Unschedulable, ...]:
    """Return the jobs that never start as too few of their pods fit nodes or queue, by cause and queue.

    Each kind of pod is tried on every node that the forecast ever has, without any other pods; as many as its
    amounts allow fit together. Sound, as pods only take amounts and ports from others and repel them; kinds
    with affinity to other pods, and those from which a node keeps CPU and memory for idle devices, are left
    out. Pods of the snapshot that have a node fit. Empty where the configuration may change the answer of a
    node.

    Parameters
    ----------
    document : mapping
        The document of the replay.
    jobs : Jobs
        The jobs of its result.
    vcjobs : mapping
        The Jobs of its result, each with its PodGroup.
    limits : mapping
        The capabilities of queues over time.

    """
    waiting = np.flatnonzero(np.isnan(jobs.started) & np.isnan(jobs.over)).tolist()
    row_of = {jobs.names[row]: row for row in waiting}
    if not row_of or _answers_change(document):
        return ()
    shapes = ShapeTable(default_requests=document.get("admission_defaults") is not False)
    pods = _pods_by_shape(document, vcjobs, row_of.keys(), shapes)
    rooms = _rooms(document, jobs, row_of, pods, shapes)
    highest = highest_limits(document, limits)
    of_number = {shape.number: shape for shape in shapes.shapes.values()}
    above: dict[int, str] = {}
    found: dict[tuple[str, str], list[int]] = {}
    for name, counts in pods.items():
        row = row_of[name]
        queue, least = jobs.queues[row], jobs.minimum[row]
        if _fitting_alone(queue, counts, rooms) < least:
            found.setdefault(("no_node", queue), []).append(row)
        elif _fitting(queue, counts, rooms) < least:
            found.setdefault(("no_room", queue), []).append(row)
        elif says := above_limit(counts, int(least), highest.get(queue, {}), of_number):
            found.setdefault(("limit", queue), []).append(row)
            above[row] = says
    return tuple(
        _of_queue(jobs, rows, pods, rooms, cause, above) for (cause, _), rows in sorted(found.items())
    )


def _fitting(queue: str, counts: Counter[int], rooms: Mapping[Kind, Room]) -> int:
    """Return how many pods of a job fit together at most; all those that are not examined."""
    return sum(
        min(count, rooms[queue, number].pods) if (queue, number) in rooms else count
        for number, count in counts.items()
    )


def _fitting_alone(queue: str, counts: Counter[int], rooms: Mapping[Kind, Room]) -> int:
    """Return how many pods of a job fit a node, each without the others; all those that are not examined."""
    return sum(
        count for number, count in counts.items() if (queue, number) not in rooms or rooms[queue, number].pods
    )


def _of_queue(
    jobs: Jobs,
    rows: list[int],
    pods: Mapping[str, Counter[int]],
    rooms: Mapping[Kind, Room],
    cause: str,
    above: Mapping[int, str],
) -> Unschedulable:
    since = jobs.there_from
    first = min(rows, key=lambda row: (since[row], jobs.names[row]))
    name, queue = jobs.names[first], jobs.queues[first]
    if cause == "limit":
        why = above[first]
    elif cause == "no_room":
        fitting = _fitting(queue, pods[name], rooms)
        why = f"{fitting:,} of the {jobs.minimum[first]:,} pods that must run together fit."
    else:
        kinds = [rooms[queue, number] for number in pods[name] if (queue, number) in rooms]
        why = next(room.refusal for room in kinds if not room.pods)
    return Unschedulable(queue, len(rows), name, float(since[first]), why, cause)


def _answers_change(document: Json) -> bool:
    """Return whether a node may answer otherwise at another time, although it is the same."""
    conf = parse_conf(document.get("scheduler_conf"))
    return any(conf.first_option(plugin) is not None for plugin in _BY_TIME_OR_QUEUE) or any(
        "scheduler_conf" in event for event in events_of(document)
    )


def _pods_by_shape(
    document: Json, vcjobs: Mapping[str, Json], names: Iterable[str], shapes: ShapeTable
) -> dict[str, Counter[int]]:
    """Return how many pods of each shape some jobs have, by the key of the PodGroup.

    The waiting pods of a Job are those that it creates.
    """
    found: dict[str, Counter[int]] = {}
    wanted = frozenset(names)
    made = {job["podgroup"] for job in vcjobs.values()}
    for job, spec, count in pods_of_jobs(document, vcjobs):
        if vcjobs[job]["podgroup"] in wanted:
            number = shapes.shape_of(spec).number
            found.setdefault(vcjobs[job]["podgroup"], Counter())[number] += count
    for pod in created(document, "pods"):
        group = (pod["metadata"].get("annotations") or {}).get(GROUP_NAME)
        key = f"{namespace_of(pod)}/{group}"
        if key in wanted:
            spec, phase = pod.get("spec") or {}, (pod.get("status") or {}).get("phase")
            has_a_node = spec.get("nodeName") or phase == "Succeeded"
            if key in made and not has_a_node:
                continue
            number = _HAS_A_NODE if has_a_node else shapes.shape_of(spec).number
            found.setdefault(key, Counter())[number] += 1
    return found


def _rooms(
    document: Json,
    jobs: Jobs,
    row_of: Mapping[str, int],
    pods: Mapping[str, Counter[int]],
    shapes: ShapeTable,
) -> dict[Kind, Room]:
    """Return how many pods of the kinds that are examined fit the nodes."""
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
    generations = _generations(document)
    clusters = [prepare({**empty, "nodes": nodes}) for nodes in generations]
    offers = [{node["metadata"]["name"]: allocatable_of(node) for node in nodes} for nodes in generations]
    found = {}
    for queue, number in kinds[:MOST_EXAMINED]:
        probe, request = _probe(queue, of_number[number]), of_number[number].request
        answers = [one.fitting(f"{_NAMESPACE}/{_NAME}", probe, Options()) for one in clusters]
        if any(answer.get("refusal") != "" for answer in answers):
            continue
        room = sum(
            _times(offered[node["name"]], request)
            for answer, offered in zip(answers, offers, strict=True)
            for node in answer["nodes"]
            if _may_fit(node)
        )
        nodes = [node for answer in answers for node in answer["nodes"]]
        reasons = Counter(reason for node in nodes for reason in node["reasons"])
        found[queue, number] = Room(room, summary(len(nodes), reasons))
    return found


def _times(offered: Resource, request: Resource) -> int:
    """Return how many pods of a request fit what an empty node offers at most, at least one."""
    amounts = [(name, amount) for name, amount in request.items() if amount >= MIN_RESOURCE]
    return max(
        min((int((offered.get(name) + MIN_RESOURCE) // amount) for name, amount in amounts), default=1), 1
    )


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
