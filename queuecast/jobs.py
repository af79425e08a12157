"""Which Volcano Job do these options describe?"""

import argparse
from typing import Any

WHAT_IF = "what-if"
"""The name of a job without one."""


def job_manifest(asked: argparse.Namespace) -> dict[str, Any]:
    """Return a vcjob of one task: so many equal pods, all or at least `min_member` of them at once."""
    namespace, _, name = (asked.name or WHAT_IF).rpartition("/")
    requests = {"cpu": asked.cpu, "memory": asked.memory, **dict(_pair(word) for word in asked.request)}
    template = {
        "spec": {
            "containers": [
                {
                    "name": "main",
                    "image": "what-if",
                    "resources": {"requests": {key: value for key, value in requests.items() if value}},
                }
            ],
            "restartPolicy": "Never",
        }
    }
    return {
        "apiVersion": "batch.volcano.sh/v1alpha1",
        "kind": "Job",
        "metadata": {"name": name, "namespace": namespace or "default"},
        "spec": {
            "schedulerName": "volcano",
            "queue": asked.queue,
            "minAvailable": asked.min_member or asked.replicas,
            **({"priorityClassName": asked.priority_class} if asked.priority_class else {}),
            "tasks": [{"name": "main", "replicas": asked.replicas, "template": template}],
        },
    }


def _pair(word: str) -> tuple[str, str]:
    resource, _, quantity = word.partition("=")
    return resource, quantity
