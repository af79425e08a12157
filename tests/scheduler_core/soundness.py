"""Properties of every session of real Volcano, whatever its configuration.

The conditions are those of the generated clusters: nodes list `pods` and are not overcommitted at first, no
plugin is listed twice, and predicates, if configured, filters (otherwise it undoes every placement).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

import pytest

from scheduler_core.admission import Admission
from scheduler_core.model.pod import pod_request
from scheduler_core.resource import Resource
from scheduler_core.resource_list import quantities, read_resource_list
from tests.builders import Object

HOLDING = {"Allocated", "Binding", "Bound", "Running"}
COUNTED = HOLDING | {"Pipelined"}
ON_NODE = HOLDING | {"Releasing"}
WITHIN_QUEUE = {"preempt", "gangpreempt"}
BETWEEN_QUEUES = {"reclaim", "gangreclaim"}

Amounts = dict[str, float]


def assert_sound(document: Object, result: Object) -> None:
    """Check every cycle of a result against its scenario."""
    assert "error" not in result, result["error"]
    cluster = Cluster(document)
    for cycle in result["cycles"]:
        cluster.assert_conserved(cycle)
        cluster.assert_counted(cycle)
        cluster.assert_legal_victims(cycle)
        assert_states_agree(cycle)


class Cluster:
    """The objects of a scenario, by name."""

    def __init__(self, document: Object) -> None:
        admitted = Admission(document).cluster()
        self.pods = admitted.pods
        self.nodes = {
            node["metadata"]["name"]: read_resource_list(node["status"]["allocatable"])
            for node in admitted.nodes.objects
        }
        self.queues = {queue["metadata"]["name"]: queue for queue in admitted.queues}
        self.requests = {
            key: pod_request(pod["spec"], default_requests=True) for key, pod in admitted.pods.items()
        }

    def assert_conserved(self, cycle: Object) -> None:
        """Amounts on a node are conserved: idle plus used is allocatable, used is the sum of its pods."""
        used, pipelined = defaultdict(Resource), defaultdict(Resource)
        known = set()
        for task in tasks_of(cycle):
            known.add(task["pod"])
            if task["status"] in ON_NODE:
                used[task["node"]].add(self.requests[task["pod"]])
            elif task["status"] == "Pipelined":
                pipelined[task["node"]].add(self.requests[task["pod"]])
        for key, pod in self.pods.items():
            if key not in known and pod["spec"].get("nodeName") and not self.has_group(pod):
                used[pod["spec"]["nodeName"]].add(self.requests[key])
        for node in cycle["nodes"]:
            name = node["name"]
            assert same(node["used"], used[name].as_dict()), name
            assert same(node["pipelined"], pipelined[name].as_dict()), name
            assert same(plus(node["idle"], node["used"]), self.nodes[name].as_dict()), name

    @staticmethod
    def has_group(pod: Mapping[str, Any]) -> bool:
        """Return whether a pod belongs to a PodGroup."""
        return "scheduling.k8s.io/group-name" in pod["metadata"].get("annotations", {})

    def assert_counted(self, cycle: Object) -> None:
        """A queue and a job hold the sum of their tasks; pipelined tasks count during the session."""
        by_job, by_queue, by_tree, at_close = (defaultdict(Resource) for _ in range(4))
        for group in cycle["podgroups"]:
            for task in group["tasks"]:
                request = self.requests[task["pod"]]
                if task["status"] in COUNTED:
                    by_job[group["name"]].add(request)
                    by_queue[group["queue"]].add(request)
                    for queue in self.line_of(group["queue"]):
                        by_tree[queue].add(request)
                if task["status"] in HOLDING:
                    for queue in self.line_of(group["queue"], twice_root=True):
                        at_close[queue].add(request)
        for queue in cycle["at_end"].get("queues", ()):
            held = by_tree if "children" in queue else by_queue
            assert same(queue["allocated"], held[queue["name"]].as_dict()), queue["name"]
        for job, shown in cycle["at_end"].get("drf_jobs", {}).items():
            assert same(shown["allocated"], by_job[job].as_dict()), job
        for queue, shown in cycle["queue_status_allocated"].items():
            assert nonzero(shown) == nonzero(quantities(at_close[queue])), queue

    def line_of(self, name: str, *, twice_root: bool = False) -> list[str]:
        """Return a queue and its ancestors."""
        line = [name]
        while name != "root":
            name = self.queues[name]["spec"].get("parent") or "root"
            line.append(name)
        return [*line, "root"] if twice_root and line == ["root"] else line

    def assert_legal_victims(self, cycle: Object) -> None:
        """Victims are legal: only preemptable pods, and only reclaimable queues."""
        queue_of = {task["pod"]: group["queue"] for group in cycle["podgroups"] for task in group["tasks"]}
        for decision in cycle["decisions"]:
            if decision["op"] != "evict" or decision["action"] == "shuffle":
                continue
            victim, evictor = decision["pod"], queue_of.get(decision.get("for", ""))
            annotations = self.pods[victim]["metadata"].get("annotations", {})
            assert annotations.get("volcano.sh/preemptable", "true") == "true", victim
            if evictor is not None:
                assert (queue_of[victim] == evictor) is (decision["action"] in WITHIN_QUEUE), victim
            if decision["action"] in BETWEEN_QUEUES:
                assert self.queues[queue_of[victim]]["spec"]["reclaimable"], victim


def assert_states_agree(cycle: Object) -> None:
    """Task statuses match the decisions, and no pod is placed or evicted twice."""
    status = {task["pod"]: task["status"] for task in tasks_of(cycle)}
    final = {("bind", "committed"): "Binding", ("evict", "committed"): "Releasing"}
    times: Counter[tuple[str, str]] = Counter()
    for decision in cycle["decisions"]:
        want = final.get((decision["op"], decision["state"]))
        if want is not None:
            times[decision["op"], decision["pod"]] += 1
            assert status[decision["pod"]] == want, decision
    assert all(count == 1 for count in times.values()), times


def tasks_of(cycle: Object) -> Iterable[Object]:
    """Yield every task of a cycle."""
    for group in cycle["podgroups"]:
        yield from group["tasks"]


def plus(left: Mapping[str, float], right: Mapping[str, float]) -> Amounts:
    """Return the sum of two resource maps."""
    return {name: left.get(name, 0) + right.get(name, 0) for name in {*left, *right}}


def same(left: Mapping[str, float], right: Mapping[str, float]) -> bool:
    """Return whether two resource maps are equal; an absent amount is zero."""
    return all(left.get(name, 0) == pytest.approx(right.get(name, 0), abs=1e-6) for name in {*left, *right})


def nonzero(actual: Mapping[str, str]) -> dict[str, str]:
    """Return the non-zero quantities."""
    return {name: text for name, text in actual.items() if text != "0"}
