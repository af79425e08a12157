"""The jobs of the sample, which run on known nodes or wait; docs/sample.md tells their story."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from planner.clusters.sample.clock import before
from planner.clusters.sample.nodes import GPU, GPU_PRODUCT, GPU_TAINT, POOLS

PRIORITIES = {"production": 10_000, "training": 1_000, "batch": 100}

_CPU_PER_GPU = 10
_MEMORY_GI_PER_GPU = 100
_GROUP_NAME = "scheduling.k8s.io/group-name"


@dataclass(frozen=True)
class Workload:
    """A job of a team: pods of one shape, in one pool."""

    team: str
    name: str
    pool: str
    min_member: int
    gpus: int = 0
    cpu: int = 0
    priority: str = "batch"
    nodes: range = range(0)
    """The numbers of the nodes that its pods run on; empty: all of it waits."""
    per_node: int = 1
    waiting: int = 0

    @property
    def requests(self) -> dict[str, str]:
        """The requests of one pod."""
        if self.gpus:
            cpu, memory = self.gpus * _CPU_PER_GPU, self.gpus * _MEMORY_GI_PER_GPU
            return {"cpu": str(cpu), "memory": f"{memory}Gi", GPU: str(self.gpus)}
        return {"cpu": str(self.cpu), "memory": f"{self.cpu * 3}Gi"}

    @property
    def least(self) -> dict[str, str]:
        """The minResources of the gang."""
        if self.gpus:
            one = Workload(self.team, self.name, self.pool, 1, gpus=self.gpus * self.min_member)
        else:
            one = Workload(self.team, self.name, self.pool, 1, cpu=self.cpu * self.min_member)
        return one.requests


_RUNNING = (
    Workload("nlp", "pretrain-70b", "gpu-h100", 8, gpus=8, nodes=range(1, 9), priority="training"),
    Workload("nlp", "eval-grid", "gpu-h100", 2, gpus=4, nodes=range(9, 12), per_node=2),
    Workload("search", "embed-rebuild", "gpu-h100", 2, gpus=4, nodes=range(12, 17), per_node=2),
    Workload("vision", "sweep-augment", "gpu-h100", 2, gpus=4, nodes=range(17, 23), per_node=2),
    Workload("vision", "sweep-rates", "gpu-h100", 2, gpus=4, nodes=range(23, 29), per_node=2),
    Workload("vision", "video-pretrain", "gpu-h100", 8, gpus=4, nodes=range(29, 33), per_node=2),
    Workload("agents", "rollouts", "gpu-h100", 4, gpus=4, nodes=range(33, 35), per_node=2),
    Workload("robotics", "sim-train", "gpu-h100", 4, gpus=4, nodes=range(35, 37), per_node=2),
    Workload("nlp", "distill", "gpu-a100", 2, gpus=2, nodes=range(1, 5), per_node=3),
    Workload("vision", "segment", "gpu-a100", 4, gpus=4, nodes=range(5, 12), per_node=2),
    Workload("ads", "ctr-train", "gpu-a100", 6, gpus=2, nodes=range(12, 16), per_node=3),
    Workload("robotics", "policy", "gpu-a100", 2, gpus=4, nodes=range(16, 18)),
    Workload("search", "ranker", "gpu-a100", 3, gpus=8, nodes=range(18, 21), priority="production"),
    Workload(
        "serving", "chat-api", "gpu-l40s", 1, gpus=1, nodes=range(1, 9), per_node=4, priority="production"
    ),
    Workload(
        "serving", "search-api", "gpu-l40s", 1, gpus=1, nodes=range(9, 13), per_node=4, priority="production"
    ),
    Workload("ci", "gpu-tests", "gpu-l40s", 1, gpus=1, nodes=range(13, 14), per_node=4),
    Workload("analytics", "etl-events", "cpu", 4, cpu=10, nodes=range(1, 9), per_node=10),
    Workload("analytics", "etl-billing", "cpu", 4, cpu=10, nodes=range(9, 17), per_node=10),
    Workload("analytics", "features", "cpu", 4, cpu=12, nodes=range(17, 25), per_node=8),
    Workload("ci", "builds", "cpu", 1, cpu=8, nodes=range(25, 29), per_node=10),
)
_WAITING = (
    Workload("agents", "train-planner", "gpu-h100", 8, gpus=8, waiting=8, priority="training"),
    Workload("search", "reindex", "gpu-a100", 2, gpus=8, waiting=2, priority="production"),
    Workload("vision", "sweep-next", "gpu-h100", 4, gpus=4, waiting=12),
    Workload("nlp", "finetune", "gpu-a100", 2, gpus=2, waiting=8),
    Workload("ads", "ctr-backtest", "gpu-a100", 4, gpus=2, waiting=4),
    Workload("serving", "chat-canary", "gpu-l40s", 1, gpus=1, waiting=4, priority="production"),
    Workload("ci", "gpu-nightly", "gpu-l40s", 2, gpus=1, waiting=4),
    Workload("analytics", "quarter-report", "cpu", 20, cpu=16, waiting=30, priority="production"),
)


def sample_workloads() -> tuple[Workload, ...]:
    """Return all jobs, the running ones first."""
    return _RUNNING + _WAITING


def podgroup(job: Workload, age: int) -> dict[str, Any]:
    """Return the PodGroup of a job that is `age` minutes old."""
    return {
        "apiVersion": "scheduling.volcano.sh/v1beta1",
        "kind": "PodGroup",
        "metadata": {"name": job.name, "namespace": job.team, "creationTimestamp": before(minutes=age)},
        "spec": {
            "minMember": job.min_member,
            "minResources": job.least,
            "priorityClassName": job.priority,
            "queue": job.team,
        },
        "status": {"phase": "Running" if job.nodes else "Pending"},
    }


def pods(job: Workload, age: int) -> Iterator[dict[str, Any]]:
    """Yield the pods of a job, those that run first."""
    pool = POOLS[job.pool]
    names = [pool.node_name(number) for number in job.nodes for _ in range(job.per_node)]
    for index, node in enumerate([*names, *[""] * job.waiting]):
        yield _pod(job, index, node, age)


def _pod(job: Workload, index: int, node: str, age: int) -> dict[str, Any]:
    pool = POOLS[job.pool]
    spec: dict[str, Any] = {
        "schedulerName": "volcano",
        "priorityClassName": job.priority,
        "priority": PRIORITIES[job.priority],
        "nodeSelector": {"node.kubernetes.io/instance-type": pool.instance_type},
        "containers": [
            {
                "name": "main",
                "image": f"registry.example/{job.team}/{job.name}",
                "resources": {"requests": job.requests, "limits": job.requests},
            }
        ],
    }
    if pool.gpus:
        spec["nodeSelector"] = {GPU_PRODUCT: pool.gpu_product}
        spec["tolerations"] = [{"key": GPU_TAINT["key"], "operator": "Exists", "effect": GPU_TAINT["effect"]}]
    if node:
        spec["nodeName"] = node
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": f"{job.name}-worker-{index}",
            "namespace": job.team,
            "uid": f"{job.team}-{job.name}-worker-{index:03d}",
            "creationTimestamp": before(minutes=age),
            "labels": {"volcano.sh/job-name": job.name, "volcano.sh/task-spec": "worker"},
            "annotations": {_GROUP_NAME: job.name, "volcano.sh/task-spec": "worker"},
        },
        "spec": spec,
        "status": {"phase": "Running", "startTime": before(minutes=age)} if node else {"phase": "Pending"},
    }
