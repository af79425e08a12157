"""Commands about nodes and jobs of a scenario."""

import argparse
import json
from collections.abc import Mapping
from typing import Any

from planning.queues import count_or_text
from queuecast.backend import Backend, Json
from queuecast.client import on_server
from queuecast.commands import edited
from queuecast.problems import Refused
from queuecast.queue_commands import patch_of, quantities
from queuecast.shown import Output, Table, amounts


def node_list(backend: Backend, args: argparse.Namespace) -> Output:
    """List the nodes of a scenario."""
    return _nodes(backend.nodes(args.scenario))


def node_add(backend: Backend, args: argparse.Namespace) -> Output:
    """Add nodes: copies of an existing one, or nodes of a given capacity."""
    capacity = dict(_pair(word) for word in args.capacity)
    if bool(args.like) == bool(capacity):
        raise Refused("Give --like NODE or --capacity RESOURCE=QUANTITY, one of them.")
    prefix = args.prefix or args.like
    if not prefix:
        raise Refused("Nodes of a capacity need --prefix, the first part of their names.")

    def add() -> Json:
        return backend.nodes_add(
            args.scenario, count=args.count, prefix=prefix, like=args.like, capacity=capacity
        )

    def tell(done: Json) -> Output:
        return Output(done, [Table(("ADDED",), [(name,) for name in done["names"]])])

    return edited(backend, args, add, tell)


def node_set(backend: Backend, args: argparse.Namespace) -> Output:
    """Change a node: cordon it, or apply a merge patch."""
    patch: Any = {} if args.cordon is None else {"spec": {"unschedulable": args.cordon or None}}
    if args.patch:
        try:
            patch = {**patch, **json.loads(args.patch)}
        except (ValueError, TypeError) as error:
            raise Refused(f"--patch is not a JSON object: {error}") from None
    if not patch:
        raise Refused("Give --cordon, --uncordon or --patch.")
    return edited(backend, args, lambda: backend.node_set(args.scenario, args.node, patch), _nodes)


def node_remove(backend: Backend, args: argparse.Namespace) -> Output:
    """Remove nodes in one revision; their pods remain and still count for their queues."""

    def remove() -> Json:
        backend.nodes_remove(args.scenario, args.nodes)
        return {"removed": args.nodes}

    return edited(backend, args, remove, _removed)


def job_list(backend: Backend, args: argparse.Namespace) -> Output:
    """List the jobs of a scenario: vcjobs, podgroups with their pods, single pods."""
    return _jobs(on_server(backend, "job list").jobs(args.scenario))


def job_set(backend: Backend, args: argparse.Namespace) -> Output:
    """Change a job: queue, priorityClassName, minMember, replicas, requests."""
    client, fields = on_server(backend, "job set"), _job_patch(args.fields)
    return edited(backend, args, lambda: client.job_set(args.scenario, args.job, fields), _jobs)


def job_copy(backend: Backend, args: argparse.Namespace) -> Output:
    """Add waiting copies of a job."""
    client = on_server(backend, "job copy")

    def copy() -> Json:
        return {"added": client.job_copy(args.scenario, args.job, args.count)}

    def tell(done: Json) -> Output:
        return Output(done, [Table(("ADDED",), [(name,) for name in done["added"]])])

    return edited(backend, args, copy, tell)


def job_remove(backend: Backend, args: argparse.Namespace) -> Output:
    """Remove a job with its podgroup and its pods."""

    def remove() -> Json:
        backend.job_remove(args.scenario, args.job)
        return {"removed": [args.job]}

    return edited(backend, args, remove, _removed)


def _removed(done: Json) -> Output:
    return Output(done, [Table(("REMOVED",), [(name,) for name in done["removed"]])])


def _nodes(found: Json | list[Json]) -> Output:
    rows = [
        (
            one["metadata"]["name"],
            "cordoned" if (one.get("spec") or {}).get("unschedulable") else "schedulable",
            quantities((one.get("status") or {}).get("allocatable")),
            " ".join(f"{key}={value}" for key, value in (one["metadata"].get("labels") or {}).items()),
        )
        for one in (found if isinstance(found, list) else [found])
    ]
    return Output(found, [Table(("NODE", "STATE", "ALLOCATABLE", "LABELS"), rows, empty="No node.", wide=1)])


def _jobs(found: Json | list[Json]) -> Output:
    rows = [
        (
            f"{one['namespace']}/{one['name']}", one["kind"], one["queue"], one["replicas"], one["minMember"],
            one["running"], one["pending"], one["origin"], one["priorityClassName"], amounts(one["amounts"]),
        )
        for one in (found if isinstance(found, list) else [found])
    ]  # fmt: skip
    columns = (
        "JOB", "KIND", "QUEUE", "PODS", "MINMEMBER", "RUNNING", "PENDING",
        "ORIGIN", "PRIORITY", "REQUESTS OF ALL",
    )  # fmt: skip
    return Output(found, [Table(columns, rows, empty="No job.", wide=3)])


def _job_patch(words: list[str]) -> Json:
    """Return the patch that ``field=value`` words spell, its whole numbers as numbers.

    >>> _job_patch(["replicas=4", "requests.cpu=500m", "queue="])
    {'replicas': 4, 'requests': {'cpu': '500m'}, 'queue': None}
    """
    patch: Mapping[str, Any] = patch_of(words)
    whole = ("replicas", "minMember")
    return {
        field: count_or_text(value) if field in whole and isinstance(value, str) else value
        for field, value in patch.items()
    }


def _pair(word: str) -> tuple[str, str]:
    resource, equals, quantity = word.partition("=")
    if not equals:
        raise Refused(f"{word!r} is not resource=quantity.")
    return resource, quantity
