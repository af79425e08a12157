"""A whole plan in the form that the lint rules read."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

from scheduler_core.conf import SchedulerConf
from scheduler_core.controllers.made import key_of
from scheduler_core.model.allocatable import allocatable_of
from scheduler_core.model.queue import ROOT, QueueInfo
from scheduler_core.problem import Problem, Severity, spell_steps
from scheduler_core.resource import Resource, total_of

Object = Mapping[str, Any]

DEFAULT_QUEUE = "default"
_WAITING = ("", "Pending", "Inqueue")


class Plan:
    """A well-formed scenario, with values that several rules need.

    Attributes
    ----------
    queues : dict
        The queues of the document, by name.
    places : dict
        Their positions in the document.

    """

    def __init__(self, document: Object, conf: SchedulerConf) -> None:
        self.document = document
        self.conf = conf
        listed = items(document, "queues")
        self.queues = {queue["metadata"]["name"]: QueueInfo(queue, 0.0) for queue in listed}
        self.places = {queue["metadata"]["name"]: place for place, queue in enumerate(listed)}

    @cached_property
    def children(self) -> Mapping[str, list[QueueInfo]]:
        """Return the children of each queue; a queue without a parent is a child of root."""
        children: dict[str, list[QueueInfo]] = defaultdict(list)
        for queue in self.queues.values():
            if queue.name != ROOT:
                children[queue.parent or ROOT].append(queue)
        return children

    @cached_property
    def total(self) -> Resource:
        """Return the total of all nodes."""
        return total_of(allocatable_of(node) for node in items(self.document, "nodes"))

    @cached_property
    def waiting(self) -> Mapping[str, int]:
        """Return the number of jobs of each queue that have not started, PodGroups or vcjobs without one."""
        podgroups = items(self.document, "podgroups")
        owners = {owner for podgroup in podgroups for owner in _owners(podgroup)}
        vcjobs = [job for job in items(self.document, "jobs") if key_of(job) not in owners]
        return Counter(
            (thing.get("spec") or {}).get("queue") or DEFAULT_QUEUE
            for thing in (*podgroups, *vcjobs)
            if _has_not_begun(thing)
        )

    def is_leaf(self, queue: QueueInfo) -> bool:
        """Return whether a queue has no children."""
        return not self.children.get(queue.name)

    def problem(
        self,
        queue: QueueInfo,
        rule: str,
        severity: Severity,
        way: Sequence[str],
        text: str,
        *,
        actual: Any = None,
        limit: Any = None,
        fix: str = "",
    ) -> Problem:
        """Return a finding about a field of a queue."""
        field = spell_steps(*way)
        path = spell_steps("queues", self.places[queue.name], *way)
        message = f"queue {queue.name}: {field}: {text}"
        return Problem(rule, severity, path, message, queue.name, field, actual, limit, fix)


def items(document: Object, kind: str) -> Sequence[Any]:
    """Return the objects of a list, which may be a Kubernetes List."""
    listed = document.get(kind)
    return listed.get("items") or [] if isinstance(listed, Mapping) else listed or []


def _owners(podgroup: Object) -> list[str]:
    """Return the keys of the vcjobs that own a PodGroup."""
    metadata = podgroup["metadata"]
    owners = metadata.get("ownerReferences") or ()
    return [
        key_of({"metadata": {**metadata, "name": one.get("name")}})
        for one in owners
        if one.get("kind") == "Job"
    ]


def _has_not_begun(thing: Object) -> bool:
    status = thing.get("status") or {}
    state = status.get("state")
    phase = state.get("phase") if isinstance(state, Mapping) else status.get("phase")
    return (phase or "") in _WAITING
