"""What does a scenario hold? Tasks, jobs, queues and nodes, by the rules of ``spec/resources.md`` 5 to 8."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import yaml

from tests.reference.resources import (
    Vector,
    added,
    exceeded,
    fits,
    is_empty,
    is_scalar,
    minus,
    pod_request,
    sub,
    total,
    vector,
)

Object = Mapping[str, Any]

ALLOCATED = ("Allocated", "Binding", "Bound", "Running")
READY = (*ALLOCATED, "Succeeded")
VALID = (*READY, "Pipelined", "Pending")
ROLE, GROUP, PREEMPTABLE = "volcano.sh/task-spec", "scheduling.k8s.io/group-name", "volcano.sh/preemptable"
ANY_ADDRESS = "0.0.0.0"  # noqa: S104 - a pod's, as Kubernetes writes it
QUEUE_GATE = "scheduling.volcano.sh/queue-allocation-gate"
NON_ZERO = {"cpu": "100m", "memory": str(200 * 2**20)}
TRUE, FALSE = ("1", "t", "T", "TRUE", "true", "True"), ("0", "f", "F", "FALSE", "false", "False")


def items(document: Object, name: str) -> list[Object]:
    """Return a list of the scenario."""
    found = document.get(name) or []
    return found["items"] if isinstance(found, Mapping) else list(found)


def conf_of(document: Object) -> Any:
    """Return the scheduler configuration, read from its text if it is one."""
    conf = document.get("scheduler_conf")
    if isinstance(conf, Mapping) and conf.get("kind") == "ConfigMap":
        conf = next((text for key, text in conf["data"].items() if key.endswith(".conf")), None)
    return yaml.safe_load(conf) if isinstance(conf, str) else conf


class Task:
    """A pod."""

    def __init__(self, pod: Object, classes: Mapping[str, Object]) -> None:
        meta, spec = pod["metadata"], pod["spec"]
        notes, labels = meta.get("annotations") or {}, meta.get("labels") or {}
        self.spec, self.name, self.namespace = spec, meta["name"], meta.get("namespace") or "default"
        self.key = f"{self.namespace}/{self.name}"
        self.uid = meta.get("uid") or f"{self.namespace}-{self.name}"
        self.creation = meta.get("creationTimestamp") or ""
        self.group = f"{self.namespace}/{notes[GROUP]}" if notes.get(GROUP) else ""
        self.role = notes.get(ROLE) or labels.get(ROLE) or ""
        named = classes.get(spec.get("priorityClassName") or "") or classes.get("")
        priority = spec.get("priority", named["value"] if named else 1)
        self.priority = _int32(notes.get("volcano.sh/task-priority"), priority)
        self.never_preempts = spec.get("preemptionPolicy", (named or {}).get("preemptionPolicy")) == "Never"
        preemptable = notes.get(PREEMPTABLE, labels.get(PREEMPTABLE, "true"))
        self.preemptable = preemptable in TRUE
        gates = [gate["name"] for gate in spec.get("schedulingGates") or ()]
        self.gated, self.deducted = bool(gates), bool(gates) and gates != [QUEUE_GATE]
        self.request = added(vector(pod_request(spec, {})), {"pods": 1.0})
        self.whole = vector(pod_request(spec, {}))
        self.near = vector(pod_request(spec, NON_ZERO))
        self.best_effort = is_empty(self.request)
        containers = [*(spec.get("containers") or ()), *(spec.get("initContainers") or ())]
        self.ports = [
            (port.get("hostIP") or ANY_ADDRESS, port.get("protocol") or "TCP", port["hostPort"])
            for container in containers
            if container in (spec.get("containers") or ()) or container.get("restartPolicy") == "Always"
            for port in container.get("ports") or ()
            if port.get("hostPort")
        ]
        parts = self.name.split("-")
        self.index = _integer(parts[-1]) if len(parts) >= 3 else None
        self.node: str = spec.get("nodeName") or ""
        self.status = status_of(pod, self.node)
        self.evicted = False
        self.job: Job | None = None
        self.looked_at = False

    @property
    def is_on_a_node(self) -> bool:
        """Tell whether the pod counts on its node."""
        return bool(self.node) and self.status not in ("Succeeded", "Failed")


def _int32(text: Any, otherwise: int) -> int:
    number = _integer(text)
    return number if number is not None and -(2**31) <= number < 2**31 else otherwise


def _integer(text: Any) -> int | None:
    try:
        return int(text) if str(text).lstrip("+-").isdigit() else None
    except ValueError:
        return None


def status_of(pod: Object, node: str) -> str:
    """Return the status of a task."""
    phase = (pod.get("status") or {}).get("phase") or ("Running" if node else "Pending")
    if phase in ("Running", "Pending") and pod["metadata"].get("deletionTimestamp"):
        return "Releasing"
    if phase == "Pending":
        return "Bound" if node else "Pending"
    return phase if phase in ("Running", "Succeeded", "Failed") else "Unknown"


class Job:
    """A PodGroup with its tasks, by uid."""

    def __init__(self, group: Object, classes: Mapping[str, Object]) -> None:
        meta, spec = group["metadata"], group["spec"]
        self.key = f"{meta.get('namespace') or 'default'}/{meta['name']}"
        self.creation = meta.get("creationTimestamp") or ""
        self.queue = spec.get("queue") or "default"
        self.min_available = int(spec.get("minMember") or 0)
        self.minimums: dict[str, int] = spec.get("minTaskMember") or {}
        amounts = spec.get("minResources")
        self.min_resources = None if amounts is None else vector(amounts)
        self.named = list(amounts or ())
        named = classes.get(spec.get("priorityClassName") or "") or classes.get("")
        self.priority = named["value"] if named else 0
        self.phase = (group.get("status") or {}).get("phase") or ""
        self.tasks: list[Task] = []
        self.fit_errors: dict[str, dict[str, list[int]]] = {}

    def count(self, *statuses: str) -> int:
        """Return how many tasks have one of some statuses."""
        return sum(task.status in statuses for task in self.tasks)

    def pending(self) -> list[Task]:
        """Return the pending tasks that no gate holds back, by uid."""
        return [task for task in self.tasks if task.status == "Pending" and not task.gated]

    def waiting_best_effort(self) -> int:
        """Return how many best-effort tasks are pending."""
        return sum(task.status == "Pending" and task.best_effort for task in self.tasks)

    @property
    def is_pending(self) -> bool:
        """Tell whether the job has not been enqueued."""
        return self.phase in ("", "Pending")

    def is_ready(self) -> bool:
        """Tell whether the minimum is placed."""
        return self.count(*READY) + self.waiting_best_effort() >= self.min_available

    def is_pipelined(self) -> bool:
        """Tell whether the minimum is placed or pipelined."""
        return self.count("Pipelined", *READY) + self.waiting_best_effort() >= self.min_available

    def roles_have(self, statuses: tuple[str, ...], *, best_effort: bool = False) -> bool:
        """Tell whether every role has its minimum; true when the roles' minimums exceed the job's."""
        if self.min_available < sum(self.minimums.values()):
            return True
        return all(
            self.of_role(role, statuses, best_effort) >= least for role, least in self.minimums.items()
        )

    def of_role(self, role: str, statuses: tuple[str, ...], best_effort: bool) -> int:
        """Return how many tasks of a role have one of some statuses."""
        return sum(
            task.status in statuses or (best_effort and task.status == "Pending" and task.best_effort)
            for task in self.tasks
            if task.role == role
        )

    def allocated(self) -> Vector:
        """Return what the allocated tasks request."""
        return total(task.request for task in self.tasks if task.status in ALLOCATED)

    def without_gated(self, amounts: Vector) -> Vector:
        """Return amounts without those of gated tasks."""
        gated = total(task.request for task in self.tasks if task.deducted)
        if is_empty(gated):
            return amounts
        return {name: max(amount - gated.get(name, 0.0), 0.0) for name, amount in amounts.items()}

    def reserved(self) -> Vector:
        """Return the part of the minimum that is not allocated."""
        allocated, result = self.allocated(), vector(None)
        for name in self.named:
            missing = (self.min_resources or {}).get(name, 0.0) - allocated.get(name, 0.0)
            if name in ("cpu", "memory", "pods") or (is_scalar(name) and name in allocated):
                result |= {name: missing} if missing > 0 else {}
            elif is_scalar(name):
                result[name] = (self.min_resources or {})[name]
        return result

    def elastic(self) -> Vector:
        """Return what is allocated above the minimum."""
        return exceeded(self.allocated(), self.min_resources or vector(None))


class Queue:
    """A Queue object."""

    def __init__(self, queue: Object) -> None:
        spec = queue.get("spec") or {}
        self.name, self.creation = queue["metadata"]["name"], queue["metadata"].get("creationTimestamp") or ""
        self.weight, self.priority = int(spec.get("weight") or 1), int(spec.get("priority") or 0)
        self.reclaimable = spec.get("reclaimable") is not False
        self.is_open = ((queue.get("status") or {}).get("state") or "Open") == "Open"
        self.capability, self.deserved = spec.get("capability"), spec.get("deserved")
        self.parent = "" if self.name == "root" else spec.get("parent") or "root"
        self.guarantee = vector((spec.get("guarantee") or {}).get("resource"))


class Node:
    """A node with the tasks on it, each with the status that the node knows of."""

    def __init__(self, node: Object) -> None:
        status = node.get("status") or {}
        self.name = node["metadata"]["name"]
        self.labels = node["metadata"].get("labels") or {}
        self.taints = (node.get("spec") or {}).get("taints") or []
        self.unschedulable = bool((node.get("spec") or {}).get("unschedulable"))
        self.allocatable = vector(
            status.get("allocatable") or status.get("capability") or status.get("capacity")
        )
        self.idle = dict(self.allocatable)
        self.used, self.releasing, self.pipelined = vector(None), vector(None), vector(None)
        self.tasks: dict[str, tuple[Task, str]] = {}
        self.seen: dict[str, Task] = {}  # what Kubernetes' filters and scores see, by uid
        self.ports: set[tuple[Any, ...]] = set()

    def future(self) -> Vector:
        """Return what will be idle once what is leaving has left."""
        return minus(added(self.idle, self.releasing), self.pipelined)

    def add(self, task: Task) -> None:
        """Put a task on the node."""
        self.tasks[task.key] = task, task.status
        if task.status == "Pipelined":
            self.pipelined = added(self.pipelined, task.request)
            return
        self.idle, self.used = minus(self.idle, task.request), added(self.used, task.request)
        if task.status == "Releasing":
            self.releasing = added(self.releasing, task.request)

    def remove(self, task: Task) -> None:
        """Take a task from the node, as the node knows it."""
        _, status = self.tasks.pop(task.key)
        if status == "Pipelined":
            self.pipelined = sub(self.pipelined, task.request)
            return
        self.idle, self.used = added(self.idle, task.request), sub(self.used, task.request)
        if status == "Releasing":
            self.releasing = sub(self.releasing, task.request)

    def show(self, task: Task) -> None:
        """Let Kubernetes' filters and scores see a pod."""
        self.seen[task.uid] = task
        self.ports |= {*task.ports}

    def hide(self, task: Task) -> None:
        """Hide it; a port that another pod uses, too, becomes free."""
        if self.seen.pop(task.uid, None) is not None:
            self.ports -= {*task.ports}

    def in_order(self) -> list[Task]:
        """Return the tasks by namespace/name."""
        return [self.tasks[key][0] for key in sorted(self.tasks)]


class Cluster:
    """Everything in a scenario, by name, in order."""

    def __init__(self, document: Object) -> None:
        classes = {entry["metadata"]["name"]: entry for entry in items(document, "priorityclasses")}
        for entry in [entry for entry in classes.values() if entry.get("globalDefault")]:
            classes[""] = entry
        self.nodes = {
            node.name: node for node in sorted(map(Node, items(document, "nodes")), key=lambda n: n.name)
        }
        queues = {queue.name: queue for queue in map(Queue, items(document, "queues"))}
        for name in ("default", "root") if document.get("default_queues", True) else ():
            added_queue = {"metadata": {"name": name}, "spec": {"reclaimable": name == "default"}}
            queues.setdefault(name, Queue(added_queue))
        self.queues = dict(sorted(queues.items()))
        jobs = {job.key: job for job in (Job(group, classes) for group in items(document, "podgroups"))}
        self.jobs = {key: jobs[key] for key in sorted(jobs) if jobs[key].queue in queues}
        ours = document.get("scheduler_names") or ["volcano"]
        for pod in items(document, "pods"):
            task = Task(pod, classes)
            if not task.node and (pod["spec"].get("schedulerName") or ours[0]) not in ours:
                continue
            task.job = self.jobs.get(task.group)
            if task.job is not None:
                task.job.tasks.append(task)
            if task.is_on_a_node:
                self.nodes[task.node].show(task)
                self.nodes[task.node].add(task)
        for job in self.jobs.values():
            job.tasks.sort(key=lambda task: task.uid)
        self.total = total(node.allocatable for node in self.nodes.values())


def fits_future(task: Task, node: Node) -> bool:
    """Tell whether a task fits what will be idle."""
    return fits(task.request, node.future())
