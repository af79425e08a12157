"""A plain recount of eviction candidates and victims, from a scenario and the decisions of its first cycle.

No session, no arrays: pods with a status, amounts as dictionaries, and each plugin's documented rule.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cmp_to_key
from typing import Any, NamedTuple

from scheduler_core.conf import PluginOption, SchedulerConf, parse_conf
from scheduler_core.model.pod_info import pod_index
from scheduler_core.model.status import LABELS, status_of
from scheduler_core.model.timestamps import parse_time
from tests.builders import Object
from tests.scheduler_core.soundness import Cluster

TOLERANCE = 0.1
HOLDING = {"Allocated", "Binding", "Bound", "Running"}
READY = HOLDING | {"Succeeded"}
COUNTED = HOLDING | {"Pipelined"}
SYSTEM = {"system-cluster-critical", "system-node-critical"}
Amounts = dict[str, float]


class Unsupported(Exception):
    """The configuration uses something that is not recounted here."""


@dataclass
class Held:
    """A pod at a moment of the cycle."""

    name: str
    job: str
    queue: str
    node: str
    status: str
    request: Amounts
    pod: Object

    @property
    def namespace(self) -> str:
        """Return its namespace."""
        return self.name.split("/")[0]

    @property
    def preemptable(self) -> bool:
        """Return whether it is preemptable."""
        metadata = self.pod["metadata"]
        actual = (metadata.get("annotations") or {}).get("volcano.sh/preemptable")
        if actual is None:
            actual = (metadata.get("labels") or {}).get("volcano.sh/preemptable")
        return actual is None or actual in ("1", "t", "T", "TRUE", "true", "True")

    @property
    def best_effort(self) -> bool:
        """Return whether it requests nothing but its pod slot."""
        return all(amount < TOLERANCE for name, amount in self.request.items() if name != "pods")


class Counted(NamedTuple):
    """The result of one victim search.

    Attributes
    ----------
    tier : int
        The deciding tier; 0 if none.
    ballots : list of dict
        In the format of the explanations.
    victims : set of str
        The pods that may be evicted.
    kept_by : dict
        By spared pod, the (tier, plugin) that refuses it.
    votes : dict
        By (tier, plugin), the accepted pods.

    """

    tier: int
    ballots: list[dict[str, Any]]
    victims: set[str]
    kept_by: dict[str, tuple[int, str]]
    votes: dict[tuple[int, str], set[str]]


class Moment:
    """The cluster after some decisions of its first cycle."""

    def __init__(self, document: Object, cycle: Object) -> None:
        cluster = Cluster(document)
        self.cluster = cluster
        self.conf: SchedulerConf = parse_conf(document.get("scheduler_conf"))
        self.figures = {entry["name"]: entry for entry in cycle["at_open"].get("queues") or ()}
        self.total: Amounts = cycle["at_open"].get("total_resource") or {}
        self.jobs = {entry["name"]: entry for entry in cycle["podgroups"]}
        self.pods: dict[str, Held] = {}
        for job in cycle["podgroups"]:
            for task in job["tasks"]:
                if task["pod"] in cluster.pods:
                    self.pods[task["pod"]] = self._at_open(task["pod"], job)

    def _at_open(self, name: str, job: Object) -> Held:
        pod = self.cluster.pods[name]
        node = pod["spec"].get("nodeName") or ""
        phase = (pod.get("status") or {}).get("phase") or "Pending"
        deleting = bool(pod["metadata"].get("deletionTimestamp"))
        status = LABELS[status_of(phase, deleting=deleting, has_node=bool(node))]
        request = self.cluster.requests[name].as_dict()
        return Held(name, job["name"], job["queue"], node, status, request, pod)

    def apply(self, decision: Object) -> None:
        """Apply one decision."""
        pod = self.pods.get(decision.get("pod", ""))
        status = {
            "bind": "Binding",
            "allocate": "Allocated",
            "pipeline": "Pipelined",
            "unpipeline": "Pending",
            "evict": "Releasing",
        }.get(decision["op"])
        if pod is not None and status is not None:
            pod.status = status
            pod.node = "" if status == "Pending" else decision["node"]

    # sums

    def held_by(self, *, job: str = "", queue: str = "") -> Amounts:
        """Return the allocated and pipelined amounts of a job's or queue's pods."""
        held: Amounts = {}
        for pod in self.pods.values():
            if pod.status in COUNTED and job in ("", pod.job) and queue in ("", pod.queue):
                held = plus(held, pod.request)
        return held

    def ready(self, job: str) -> int:
        """Return how many pods of a job count as ready."""
        return sum(pod.job == job and pod.status in READY for pod in self.pods.values())

    def share(self, held: Amounts) -> float:
        """Return the dominant share of the cluster."""
        return max((held.get(name, 0.0) / amount for name, amount in self.total.items() if amount), default=0)

    # candidates

    def candidates(self, action: str, asking: Held, node: str, *, inside: bool) -> list[Held]:
        """Return the candidates on a node by name."""
        on_node = [pod for pod in self.pods.values() if pod.node == node]
        if action == "reclaim" and any(pod.status == "Bound" for pod in on_node):
            raise Unsupported("an eviction that was undone leaves a bound pod running, which nothing shows")
        allowed = self._of_other_queues if action == "reclaim" else self._of_the_queue(inside)
        here = [pod for pod in on_node if allowed(pod, asking)]
        return sorted(here, key=lambda pod: pod.name)

    def _of_other_queues(self, pod: Held, asking: Held) -> bool:
        if pod.status != "Running" or not pod.preemptable or pod.queue == asking.queue:
            return False
        return self.cluster.queues[pod.queue]["spec"].get("reclaimable") is not False

    def _of_the_queue(self, inside: bool) -> Callable[[Held, Held], bool]:
        def allowed(pod: Held, asking: Held) -> bool:
            if pod.status not in ("Running", "Bound") or not pod.preemptable or pod.queue != asking.queue:
                return False
            if asking.best_effort and not pod.best_effort:
                return False
            return (pod.job == asking.job) == inside

        return allowed

    # votes of plugins

    def vote(self, option: PluginOption, action: str, asking: Held, candidates: Sequence[Held]) -> set[str]:
        """Return the candidates that a plugin accepts."""
        votes = {
            "gang": self._gang,
            "priority": self._priority,
            "conformance": self._conformance,
            "drf": self._drf,
            "proportion": self._proportion,
            "capacity": self._capacity,
        }
        if option.name not in votes or (option.name in ("drf", "capacity") and self._is_tree(option.name)):
            raise Unsupported(option.name)
        return {pod.name for pod in votes[option.name](asking, candidates)}

    def _is_tree(self, plugin: str) -> bool:
        return self.conf.hierarchy_enabled(plugin)

    def _gang(self, _asking: Held, candidates: Sequence[Held]) -> Iterator[Held]:
        left: dict[str, int] = {}
        for pod in candidates:
            ready = left.setdefault(pod.job, self.ready(pod.job))
            if ready > self.jobs[pod.job]["minAvailable"]:
                left[pod.job] = ready - 1
                yield pod

    def _priority(self, asking: Held, candidates: Sequence[Held]) -> Iterator[Held]:
        for pod in candidates:
            if pod.job == asking.job:
                if task_priority(pod) < task_priority(asking):
                    yield pod
            elif self.jobs[pod.job]["priority"] < self.jobs[asking.job]["priority"]:
                yield pod

    def _conformance(self, _asking: Held, candidates: Sequence[Held]) -> Iterator[Held]:
        for pod in candidates:
            if pod.pod["spec"].get("priorityClassName") not in SYSTEM and pod.namespace != "kube-system":
                yield pod

    def _drf(self, asking: Held, candidates: Sequence[Held]) -> Iterator[Held]:
        wanted = self.share(plus(self.held_by(job=asking.job), asking.request))
        left: dict[str, Amounts] = {}
        for pod in candidates:
            held = left.get(pod.job) or self.held_by(job=pod.job)
            left[pod.job] = plus(held, pod.request, -1)
            if self.share(left[pod.job]) > wanted - 1e-6 or wanted < self.share(left[pod.job]):
                yield pod

    def _proportion(self, _asking: Held, candidates: Sequence[Held]) -> Iterator[Held]:
        left: dict[str, Amounts] = {}
        for pod in candidates:
            if pod.queue not in self.figures:
                continue
            held = left.setdefault(pod.queue, self.held_by(queue=pod.queue))
            deserved = self.figures[pod.queue]["deserved"]
            if any(amount - deserved.get(name, 0) >= TOLERANCE for name, amount in held.items()):
                left[pod.queue] = plus(held, pod.request, -1)
                yield pod

    def _capacity(self, asking: Held, candidates: Sequence[Held]) -> Iterator[Held]:
        left: dict[str, Amounts] = {}
        for pod in self._in_order_of_loss(candidates):
            if not (holds(pod.request) & holds(asking.request)) - {"pods"}:
                continue
            held = left.setdefault(pod.queue, self.held_by(queue=pod.queue))
            figures = self.figures[pod.queue]
            rest = plus(held, pod.request, -1)
            if any(rest.get(name, 0) - amount <= -TOLERANCE for name, amount in figures["guarantee"].items()):
                continue
            if holds_too_much(held, figures["deserved"], pod.request):
                left[pod.queue] = rest
                yield pod

    def _in_order_of_loss(self, candidates: Sequence[Held]) -> list[Held]:
        """Return the candidates in the eviction order of their queues, which are independent."""
        orders = {
            "priority": lambda job: -self.jobs[job]["priority"],
            "gang": lambda job: self.ready(job) >= self.jobs[job]["minAvailable"],
            "drf": lambda job: self.share(self.held_by(job=job)),
        }
        named = [option.name for option in self.conf.options() if option.enabled("enableJobOrder")]
        if {"sla", "tdm", "extender"} & set(named):
            raise Unsupported("job order")
        tasks_by_priority = any(
            option.name == "priority" and option.enabled("enableTaskOrder") for option in self.conf.options()
        )
        keys = [orders[name] for name in named if name in orders]

        def compare(left: Held, right: Held) -> int:
            mine, theirs = ([key(pod.job) for key in keys] for pod in (left, right))
            if left.job != right.job and mine != theirs:
                return -1 if mine > theirs else 1
            return -1 if placed_first(right, left, by_priority=tasks_by_priority) else 1

        return sorted(candidates, key=cmp_to_key(compare))

    # results

    def count(self, action: str, asking: Held, candidates: Sequence[Held]) -> Counted:
        """Return the victims by the rule of tiers."""
        switch, voters = VOTERS[action]
        votes: dict[tuple[int, str], set[str]] = {}
        ballots: list[dict[str, Any]] = []
        names = [pod.name for pod in candidates]
        for tier, options in enumerate(self.conf.tiers, start=1):
            agreed: set[str] = set()
            together: list[str] = []
            ended = False
            for option in options:
                if option.name not in voters or not option.enabled(switch):
                    continue
                if option.name == "drf" and action == "reclaim" and not self._is_tree("drf"):
                    continue
                accepted = votes[tier, option.name] = self.vote(option, action, asking, candidates)
                agreed = agreed & accepted if together else set(accepted)
                together.append(option.name)
                if not accepted or not agreed:
                    outcome = "refused" if not accepted else "disjoint"
                    ballots.append({"tier": tier, "plugins": together, "outcome": outcome})
                    agreed, together, ended = set(), [], not accepted
                    if ended:
                        break
            if agreed:
                ballots.append({"tier": tier, "plugins": together, "outcome": "decided"})
                kept = {name: _keeper(ballots[-1], votes, name) for name in names if name not in agreed}
                return Counted(tier, ballots, agreed, kept, votes)
        kept = {name: _keeper(ballots[-1], votes, name) for name in names} if ballots else {}
        return Counted(0, ballots, set(), kept, votes)


VOTERS = {
    "reclaim": (
        "enableReclaimable",
        {"gang", "conformance", "proportion", "capacity", "drf", "pdb", "cdp", "extender"},
    ),
    "preempt": (
        "enablePreemptable",
        {"gang", "priority", "conformance", "drf", "pdb", "cdp", "tdm", "extender"},
    ),
}


def _keeper(ballot: Object, votes: Mapping[tuple[int, str], set[str]], name: str) -> tuple[int, str]:
    """Return the plugin of a ballot that refuses a pod."""
    tier, plugins = ballot["tier"], ballot["plugins"]
    if ballot["outcome"] == "refused":
        return tier, plugins[-1]
    return next((tier, plugin) for plugin in plugins if name not in votes[tier, plugin])


def holds(amounts: Amounts) -> set[str]:
    """Return the resources with a non-zero amount."""
    return {name for name, amount in amounts.items() if amount >= TOLERANCE}


def holds_too_much(held: Amounts, deserved: Amounts, request: Amounts) -> bool:
    """Return whether a queue deserves none of a pod's requests, or exceeds deserved in one of them."""
    if not holds(deserved) & holds(request):
        return True
    named = {name for name, amount in deserved.items() if amount or name not in ("cpu", "memory")}
    return any(held.get(name, 0) > deserved[name] for name in named - {"pods"} if request.get(name, 0) > 0)


def task_priority(pod: Held) -> int:
    """Return a pod's priority within its job."""
    priority = pod.pod["spec"].get("priority")
    actual = (pod.pod["metadata"].get("annotations") or {}).get("volcano.sh/task-priority")
    return int(actual) if actual is not None else 1 if priority is None else int(priority)


def placed_first(left: Held, right: Held, *, by_priority: bool) -> bool:
    """Return whether a pod is placed before another one of its queue."""
    if by_priority and task_priority(left) != task_priority(right):
        return task_priority(left) > task_priority(right)
    mine, theirs = (pod_index(pod.name.split("/")[1]) for pod in (left, right))
    if mine is not None and theirs is not None and mine != theirs:
        return mine < theirs
    return _age(left) < _age(right)


def _age(pod: Held) -> tuple[float, str]:
    metadata = pod.pod["metadata"]
    created = metadata.get("creationTimestamp")
    return parse_time(created) if created else float("-inf"), metadata.get("uid") or ""


def plus(left: Mapping[str, float], right: Mapping[str, float], sign: float = 1.0) -> Amounts:
    """Return the sum of two amounts, or their difference with sign -1."""
    return {name: left.get(name, 0.0) + sign * right.get(name, 0.0) for name in {**left, **right}}
