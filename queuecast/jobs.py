"""Volcano Jobs built from options."""

import argparse
from typing import Any

WHAT_IF = "what-if"
"""The name of a job without one."""


def job_manifest(args: argparse.Namespace) -> dict[str, Any]:
    """Return a vcjob with one task of equal pods, of which at least `min_member` run at once."""
    namespace, _, name = (args.name or WHAT_IF).rpartition("/")
    requests = {"cpu": args.cpu, "memory": args.memory, **dict(_pair(word) for word in args.request)}
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
            "queue": args.queue,
            "minAvailable": args.min_member or args.replicas,
            **({"priorityClassName": args.priority_class} if args.priority_class else {}),
            "tasks": [{"name": "main", "replicas": args.replicas, "template": template}],
        },
    }


def _pair(word: str) -> tuple[str, str]:
    resource, _, quantity = word.partition("=")
    return resource, quantity
