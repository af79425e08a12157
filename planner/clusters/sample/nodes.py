"""The nodes of the sample: a hundred, in four pools over three zones."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from planner.clusters.sample.clock import before

GPU = "nvidia.com/gpu"
GPU_PRODUCT = "nvidia.com/gpu.product"
GPU_TAINT = {"key": GPU, "value": "present", "effect": "NoSchedule"}


@dataclass(frozen=True)
class Pool:
    """Nodes of one shape."""

    name: str
    size: int
    instance_type: str
    cpu: int
    memory_gi: int
    gpus: int = 0
    gpu_product: str = ""

    def node_name(self, number: int) -> str:
        """Return the name of a node of this pool; the first is 1."""
        return f"{self.name}-{number:02d}"


POOLS = {
    pool.name: pool
    for pool in (
        Pool("gpu-h100", 36, "hgx-h100", 192, 2048, gpus=8, gpu_product="NVIDIA-H100-80GB-HBM3"),
        Pool("gpu-a100", 20, "dgx-a100", 128, 1024, gpus=8, gpu_product="NVIDIA-A100-SXM4-80GB"),
        Pool("gpu-l40s", 14, "l40s-4", 96, 512, gpus=4, gpu_product="NVIDIA-L40S"),
        Pool("cpu", 30, "epyc-128", 128, 512),
    )
}
_ZONES = ("east-1a", "east-1b", "east-1c")
_KUBELET_CPU = 2
_KUBELET_MEMORY_GI = 8
"""Resources that a node reserves for the system."""


def sample_nodes() -> Iterator[dict[str, Any]]:
    """Yield the nodes, pool by pool."""
    for pool in POOLS.values():
        for number in range(1, pool.size + 1):
            yield _node(pool, number)


def _node(pool: Pool, number: int) -> dict[str, Any]:
    name = pool.node_name(number)
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": name,
            "creationTimestamp": before(days=120, minutes=number),
            "labels": {
                "kubernetes.io/hostname": name,
                "kubernetes.io/os": "linux",
                "node.kubernetes.io/instance-type": pool.instance_type,
                "topology.kubernetes.io/zone": _ZONES[number % len(_ZONES)],
                **({GPU_PRODUCT: pool.gpu_product} if pool.gpus else {}),
            },
        },
        "spec": {"taints": [GPU_TAINT]} if pool.gpus else {},
        "status": {
            "capacity": _amounts(pool, pool.cpu, pool.memory_gi),
            "allocatable": _amounts(pool, pool.cpu - _KUBELET_CPU, pool.memory_gi - _KUBELET_MEMORY_GI),
            "conditions": [{"type": "Ready", "status": "True"}],
        },
    }


def _amounts(pool: Pool, cpu: int, memory_gi: int) -> dict[str, str]:
    gpus = {GPU: str(pool.gpus)} if pool.gpus else {}
    return {"cpu": str(cpu), "memory": f"{memory_gi}Gi", **gpus, "pods": "110"}
