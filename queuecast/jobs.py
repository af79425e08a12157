"""The fields of a new job from options."""

import argparse
from typing import Any

WHAT_IF = "what-if"
"""The name of a job without one."""


def job_fields(args: argparse.Namespace) -> dict[str, Any]:
    """Return the fields of a vcjob with one task of equal pods, as in the API."""
    namespace, _, name = (args.name or WHAT_IF).rpartition("/")
    requests = {"cpu": args.cpu, "memory": args.memory, **dict(_pair(word) for word in args.request)}
    fields = {
        "name": name,
        "namespace": namespace,
        "queue": args.queue,
        "replicas": args.replicas,
        "minMember": args.min_member,
        "priorityClassName": args.priority_class,
        "requests": {resource: quantity for resource, quantity in requests.items() if quantity},
        "node_constraints": args.node_constraints,
    }
    return {name: value for name, value in fields.items() if value not in (None, "")}


def _pair(word: str) -> tuple[str, str]:
    resource, _, quantity = word.partition("=")
    return resource, quantity
