"""Search for the nodes where one more pod would fit, by the core's own predicates and scores."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from planning.documents import items
from planning.pods import pod_key
from planning.rows import Problem
from scheduler_core import Options, prepare
from scheduler_core.admission import Admission
from scheduler_core.quantity import QuantityError, parse_quantity

Json = Mapping[str, Any]

START, END = "start", "end"
MOMENTS = (START, END)
"""When the pod is placed: before the scheduler acts, or after the run, see `settled`."""

NAMESPACE, NAME = "queuecast", "where-it-fits"
PLACED = ("Allocated", "Binding", "Bound", "Running", "Pipelined")
GROUP = "scheduling.k8s.io/group-name"


@dataclass(frozen=True)
class Probe:
    """A pod to find a place for: `requests` and `selector` as in Kubernetes."""

    queue: str
    requests: Mapping[str, str]
    selector: Mapping[str, str] = field(default_factory=dict)
    tolerates: bool = False
    """Whether it tolerates every taint."""
    at: str = END


def probe_problems(probe: Probe, queues: Collection[str]) -> list[Problem]:
    """Return why the search for a place is impossible."""
    found = []
    if probe.queue not in queues:
        message = f"There is no queue {probe.queue!r}."
        found.append(_problem("queue", message, "Name a queue of the run.", probe.queue))
    if not probe.requests:
        found.append(
            _problem("requests", "The pod requests nothing.", "Request at least one resource.", None)
        )
    for name, quantity in probe.requests.items():
        try:
            parse_quantity(quantity)
        except QuantityError:
            message = f"{quantity!r} is not a quantity."
            found.append(
                _problem(f"requests.{name}", message, "Write it as in a manifest: 8, 500m, 32Gi.", quantity)
            )
    if probe.at not in MOMENTS:
        found.append(
            _problem("at", f"{probe.at!r} is not a moment.", f"One of {', '.join(MOMENTS)}.", probe.at)
        )
    return found


def fitting(document: Json, probe: Probe, options: Options) -> dict[str, Any]:
    """Return the answer of every node for the pod: see `scheduler_core.framework.fitting`.

    `document` is a scenario whose configuration is a structure.
    """
    prepared = prepare(document)
    if probe.at == END:
        if options.progress is not None:
            options.progress(0.1, "simulating the scenario")
        result = prepared.simulate(options=options)
        if "error" in result:
            return {"error": result["error"]}
        document = settled(document, result)
        prepared = prepare(document)
    if options.progress is not None:
        options.progress(0.8, "checking the nodes")
    added = {"podgroups": [_podgroup(probe)], "pods": [_pod(probe)]}
    changes = {kind: [*items(document.get(kind)), *objects] for kind, objects in added.items()}
    return prepared.fitting(f"{NAMESPACE}/{NAME}", changes, options)


def settled(document: Json, result: Json) -> dict[str, Any]:
    """Return a scenario after its run: evicted pods have left their nodes, and pipelined ones run."""
    stands = {task["pod"]: task for job in result["cycles"][-1]["podgroups"] for task in job["tasks"]}
    evicted = {
        step["pod"]
        for cycle in result["cycles"]
        for step in cycle["decisions"]
        if step["op"] == "evict" and step["state"] == "committed"
    }
    pods = {pod_key(pod): pod for pod in items(document.get("pods"))}
    if not stands.keys() <= pods.keys():
        # Controllers created the others.
        pods = {pod_key(pod): pod for pod in Admission(document).cluster().pods.values()} | pods
    settled_pods = (_settled(pod, stands.get(key), key in evicted) for key, pod in pods.items())
    return {**document, "pods": [pod for pod in settled_pods if pod is not None], "cycles": 1}


def _settled(pod: Json, task: Json | None, is_evicted: bool) -> Json | None:
    """Return a pod after the run, None if it is gone; `task` is its end in the last session."""
    spec = pod.get("spec") or {}
    if task is not None and task["status"] in PLACED:
        return {**pod, "spec": {**spec, "nodeName": task["node"]}}
    if task is None or task["status"] == "Releasing":
        return None if is_evicted or task is not None else pod
    if is_evicted:
        waiting = {name: value for name, value in spec.items() if name != "nodeName"}
        return {**pod, "spec": waiting, "status": {"phase": "Pending"}}
    return pod


def _podgroup(probe: Probe) -> dict[str, Any]:
    return {
        "apiVersion": "scheduling.volcano.sh/v1beta1",
        "kind": "PodGroup",
        "metadata": {"name": NAME, "namespace": NAMESPACE},
        "spec": {"minMember": 1, "queue": probe.queue},
        "status": {"phase": "Inqueue"},
    }


def _pod(probe: Probe) -> dict[str, Any]:
    spec: dict[str, Any] = {
        "schedulerName": "volcano",
        "containers": [{"name": "pod", "resources": {"requests": dict(probe.requests)}}],
        "nodeSelector": dict(probe.selector),
    }
    if probe.tolerates:
        spec["tolerations"] = [{"operator": "Exists"}]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": NAME, "namespace": NAMESPACE, "annotations": {GROUP: NAME}},
        "spec": spec,
        "status": {"phase": "Pending"},
    }


def _problem(path: str, message: str, fix: str, actual: Any) -> Problem:
    return Problem("fit.bad", "error", message, path=path, field=path, actual=actual, fix=fix)


def probe_of(body: Json) -> Probe:
    """Return a stored probe."""
    return Probe(**body)
