"""The sample as one scenario document."""

from typing import Any

from planner.clusters.sample.clock import NOW, at
from planner.clusters.sample.conf import SAMPLE_CONF
from planner.clusters.sample.nodes import sample_nodes
from planner.clusters.sample.queues import sample_queues
from planner.clusters.sample.workloads import PRIORITIES, podgroup, pods, sample_workloads

SAMPLE_NAME = "Sample: one team over its deserved amount"


def sample_document() -> dict[str, Any]:
    """Return the sample, the same every time."""
    jobs = [(job, 7 * 24 * 60 // (number + 1)) for number, job in enumerate(sample_workloads())]
    return {
        "name": SAMPLE_NAME,
        "scheduler_conf": SAMPLE_CONF,
        "nodes": list(sample_nodes()),
        "queues": list(sample_queues()),
        "podgroups": [podgroup(job, age) for job, age in jobs],
        "pods": [pod for job, age in jobs for pod in pods(job, age)],
        "priorityclasses": [_priority_class(name, value) for name, value in PRIORITIES.items()],
        "now": at(NOW),
    }


def _priority_class(name: str, value: int) -> dict[str, Any]:
    return {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": name},
        "value": value,
    }
