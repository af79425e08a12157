"""Search for the nodes where one more pod would fit, by the core's own predicates and scores."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from planning.documents import items
from planning.rows import Problem
from scheduler_core import Options, prepare
from scheduler_core.quantity import QuantityError, parse_quantity

Json = Mapping[str, Any]

START, END = "start", "end"
MOMENTS = (START, END)
"""When the pod is placed: before the scheduler acts, or after the run, with evicted pods gone."""

NAMESPACE, NAME = "queuecast", "where-it-fits"
PLACED = ("Allocated", "Binding", "Bound", "Running")
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
    """Return a scenario after its run: placed pods are on their nodes, evicted ones are gone."""
    stands = {task["pod"]: task for job in result["cycles"][-1]["podgroups"] for task in job["tasks"]}
    return {**document, "pods": list(_settled_pods(document, stands)), "cycles": 1}


def _settled_pods(document: Json, stands: Mapping[str, Json]) -> Iterator[Json]:
    for pod in items(document.get("pods")):
        metadata = pod["metadata"]
        task = stands.get(f"{metadata.get('namespace') or 'default'}/{metadata['name']}")
        if task is None or task["status"] not in (*PLACED, "Releasing"):
            yield pod
        elif task["status"] in PLACED:
            yield {**pod, "spec": {**(pod.get("spec") or {}), "nodeName": task["node"]}}


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
