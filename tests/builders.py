"""Short builders of Kubernetes objects with ordinary defaults.

Amounts are Kubernetes quantities; `gpu` stands for ``nvidia.com/gpu``. All objects are equally old unless
`created` (seconds after the scenario's midnight) says otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from scheduler_core import Options, simulate_document
from scheduler_core.admission import Admission
from scheduler_core.conf import parse_conf
from scheduler_core.framework.extender_calls import KEPT, ExtenderCalls, Post
from scheduler_core.framework.extension_points import Point
from scheduler_core.framework.observer import unobserved
from scheduler_core.framework.session import Session
from scheduler_core.model.snapshot import take_snapshot
from scheduler_core.plugins.registry import OPENERS, Opener
from scheduler_core.recording.recorder import Recorder

Object = dict[str, Any]
Plugin = str | tuple[str, Mapping[str, Any]]

GPU = "nvidia.com/gpu"
GROUP_NAME = "scheduling.k8s.io/group-name"
NOW = "2026-01-01T12:00:00Z"


def amounts(**quantities: Any) -> dict[str, str]:
    """Return a resource list: ``amounts(cpu=2, memory="1Gi", gpu=1)``."""
    return {GPU if name == "gpu" else name: str(quantity) for name, quantity in quantities.items()}


def at(seconds: float) -> str:
    """Return the time this many seconds after midnight of the scenario's day."""
    hours, rest = divmod(int(seconds), 3600)
    return f"2026-01-01T{hours:02d}:{rest // 60:02d}:{rest % 60:02d}Z"


def node(
    name: str,
    *,
    labels: Mapping[str, str] | None = None,
    taints: Sequence[Mapping[str, str]] = (),
    unschedulable: bool = False,
    annotations: Mapping[str, str] | None = None,
    **allocatable: Any,
) -> Object:
    """Return a node that is ready; without `pods` it takes 110."""
    resources = amounts(**{"pods": 110, **allocatable})
    spec: Object = {}
    if taints:
        spec["taints"] = [dict(taint) for taint in taints]
    if unschedulable:
        spec["unschedulable"] = True
    return {
        "metadata": {
            "name": name,
            "labels": {"kubernetes.io/hostname": name, **(labels or {})},
            "annotations": dict(annotations or {}),
        },
        "spec": spec,
        "status": {
            "allocatable": resources,
            "capacity": resources,
            "conditions": [{"type": "Ready", "status": "True"}],
        },
    }


def queue(
    name: str,
    *,
    parent: str | None = None,
    priority: int | None = None,
    weight: int = 1,
    reclaimable: bool | None = None,
    guarantee: Mapping[str, Any] | None = None,
    deserved: Mapping[str, Any] | None = None,
    capability: Mapping[str, Any] | None = None,
    state: str = "Open",
    created: float = 0,
    annotations: Mapping[str, str] | None = None,
    **spec: Any,
) -> Object:
    """Return a queue: ``queue("a", weight=2, capability={"cpu": 4})``."""
    spec = {"weight": weight, **spec}
    if parent is not None:
        spec["parent"] = parent
    if priority is not None:
        spec["priority"] = priority
    if reclaimable is not None:
        spec["reclaimable"] = reclaimable
    if guarantee is not None:
        spec["guarantee"] = {"resource": amounts(**guarantee)}
    if deserved is not None:
        spec["deserved"] = amounts(**deserved)
    if capability is not None:
        spec["capability"] = amounts(**capability)
    metadata = {"name": name, "creationTimestamp": at(created), "annotations": dict(annotations or {})}
    return {"metadata": metadata, "spec": spec, "status": {"state": state}}


def priority_class(name: str, value: int, **fields: Any) -> Object:
    """Return a priority class."""
    return {"metadata": {"name": name}, "value": value, **fields}


def podgroup(
    name: str,
    *,
    queue: str = "default",
    min_member: int = 1,
    min_task_member: Mapping[str, int] | None = None,
    min_resources: Mapping[str, Any] | None = None,
    priority_class: str | None = None,
    phase: str = "Inqueue",
    namespace: str = "default",
    created: float = 0,
    annotations: Mapping[str, str] | None = None,
    labels: Mapping[str, str] | None = None,
) -> Object:
    """Return a PodGroup that has been enqueued, unless `phase` says otherwise."""
    spec: Object = {"minMember": min_member, "queue": queue}
    if min_task_member is not None:
        spec["minTaskMember"] = dict(min_task_member)
    if min_resources is not None:
        spec["minResources"] = amounts(**min_resources)
    if priority_class is not None:
        spec["priorityClassName"] = priority_class
    return {
        "metadata": {
            "name": name,
            "namespace": namespace,
            "creationTimestamp": at(created),
            "annotations": dict(annotations or {}),
            "labels": dict(labels or {}),
        },
        "spec": spec,
        "status": {"phase": phase},
    }


def pod(
    name: str,
    *,
    group: str | None = None,
    node: str | None = None,
    role: str | None = None,
    priority: int | None = None,
    phase: str | None = None,
    preemptable: bool | None = None,
    deleting: bool = False,
    namespace: str = "default",
    created: float = 0,
    uid: str | None = None,
    annotations: Mapping[str, str] | None = None,
    labels: Mapping[str, str] | None = None,
    spec: Mapping[str, Any] | None = None,
    **requests: Any,
) -> Object:
    """Return a pod: pending, or running on `node`; `spec` adds parts that have no word of their own here."""
    notes = dict(annotations or {})
    if group is not None:
        notes[GROUP_NAME] = group
    if role is not None:
        notes["volcano.sh/task-spec"] = role
    if preemptable is not None:
        notes["volcano.sh/preemptable"] = str(preemptable).lower()
    metadata: Object = {
        "name": name,
        "namespace": namespace,
        "uid": uid or f"{namespace}-{name}",
        "creationTimestamp": at(created),
        "annotations": notes,
        "labels": dict(labels or {}),
    }
    if deleting:
        metadata["deletionTimestamp"] = NOW
    container = {"name": "main", "image": "busybox", "resources": {"requests": amounts(**requests)}}
    whole: Object = {"schedulerName": "volcano", "containers": [container], **(spec or {})}
    if node is not None:
        whole["nodeName"] = node
    if priority is not None:
        whole["priority"] = priority
    return {
        "metadata": metadata,
        "spec": whole,
        "status": {"phase": phase or ("Pending" if node is None else "Running")},
    }


def pods(group: str, count: int, *, first: int = 0, **facts: Any) -> list[Object]:
    """Return `count` equal pods of one PodGroup, named ``<group>-<number>``."""
    return [pod(f"{group}-{number}", group=group, **facts) for number in range(first, first + count)]


def job(
    name: str,
    *,
    tasks: Sequence[Mapping[str, Any]],
    queue: str = "default",
    namespace: str = "default",
    created: float = 0,
    **spec: Any,
) -> Object:
    """Return a ``batch.volcano.sh`` Job; each of `tasks` is a task as in the CRD."""
    return {
        "metadata": {"name": name, "namespace": namespace, "creationTimestamp": at(created)},
        "spec": {"schedulerName": "volcano", "queue": queue, "tasks": [dict(task) for task in tasks], **spec},
    }


def conf(actions: str, *tiers: Sequence[Plugin], **action_arguments: Mapping[str, Any]) -> Object:
    """Return a scheduler configuration: ``conf("allocate", ["gang"], [("drf", {"enableJobOrder": False})])``.

    Arguments of an action are named after it: ``conf("preempt", ["gang"], preempt={"key": 1})``.
    """
    return {
        "actions": actions,
        "tiers": [{"plugins": [_plugin(plugin) for plugin in tier]} for tier in tiers],
        "configurations": [
            {"name": name, "arguments": dict(values)} for name, values in action_arguments.items()
        ],
    }


def _plugin(plugin: Plugin) -> Object:
    if isinstance(plugin, str):
        return {"name": plugin}
    name, fields = plugin
    return {"name": name, **fields}


def scenario(
    *,
    nodes: Sequence[Object] = (),
    queues: Sequence[Object] = (),
    podgroups: Sequence[Object] = (),
    pods: Sequence[Object] = (),
    conf: Object | None = None,
    **fields: Any,
) -> Object:
    """Return a scenario document at noon; `fields` adds further keys of the format."""
    document: Object = {
        "name": "test",
        "nodes": list(nodes),
        "queues": list(queues),
        "podgroups": list(podgroups),
        "pods": list(pods),
        "now": NOW,
        **fields,
    }
    if conf is not None:
        document["scheduler_conf"] = conf
    return document


def session_of(
    document: Object,
    *,
    explain: bool = False,
    further: Mapping[str, Opener] | None = None,
    extender: Post | None = None,
) -> Session:
    """Return an opened session of a scenario, before its first action; `further` plugins by name."""
    openers = {**OPENERS, **further} if further else OPENERS
    configuration = parse_conf(document.get("scheduler_conf"))
    snapshot = take_snapshot(Admission(document).cluster())
    observe, kept = Recorder if explain else unobserved, {KEPT: ExtenderCalls(extender)}
    session = Session(snapshot, configuration, observe=observe, kept=kept)
    for option in configuration.options():
        if option.name in openers:
            openers[option.name](session, option.arguments)
    return session


def register(session: Session, point: Point, plugin: str, fn: Callable[..., Any]) -> None:
    """Register a plugin's function at any point, without a statement on caching its answers."""
    if point in (Point.PREEMPTABLE, Point.RECLAIMABLE):
        session.registry.add_evictable(point, plugin, fn)
    else:
        getattr(session.registry, f"add_{point.label}")(plugin, fn)


def last_cycle(document: Object, **options: Any) -> Object:
    """Simulate a scenario and return its last cycle."""
    result = simulate_document(document, Options(**options))
    assert "error" not in result, result["error"]
    cycle: Object = result["cycles"][-1]
    return cycle


def decided(cycle: Object, op: str) -> list[str]:
    """Return the pods of all decisions of one kind, in order (jobs for ``enqueue``)."""
    return [entry.get("pod") or entry["job"] for entry in cycle["decisions"] if entry["op"] == op]
