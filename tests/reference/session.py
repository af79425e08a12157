"""What does one session hold, and how does it ask its plugins? By the rules of ``spec/session.md``.

No cache, no bound, no array: every question is asked anew.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

from tests.reference.cluster import Cluster, Job, Node, Queue, Task, conf_of, fits_future
from tests.reference.heap import Heap
from tests.reference.plugins import PERMIT, PLUGINS, REJECT
from tests.reference.resources import fits

Item = TypeVar("Item")
Cache = dict[str, dict[str, list[int]]]
Decision = dict[str, str]

SWITCHES = {
    "job_order": "enableJobOrder",
    "queue_order": "enableQueueOrder",
    "task_order": "enableTaskOrder",
    "job_ready": "enableJobReady",
    "job_pipelined": "enableJobPipelined",
    "job_starving": "enableJobStarving",
    "job_enqueueable": "enableJobEnqueued",
    "job_enqueued": "enableJobEnqueued",
    "overused": "enabledOverused",
    "preemptive": "enablePreemptive",
    "allocatable": "enabledAllocatable",
    "pre_predicate": "enablePredicate",
    "predicate": "enablePredicate",
    "node_order": "enableNodeOrder",
    "batch_node_order": "enableNodeOrder",
    "preemptable": "enablePreemptable",
    "reclaimable": "enableReclaimable",
}


class Statement:
    """Operations that can be taken back."""

    def __init__(self, session: Session) -> None:
        self.session, self.log = session, []

    def evict(self, victim: Task, preemptor: Task) -> None:
        self.session.move(victim, "Releasing")
        self.session.fire("deallocate", victim)
        decision = self.session.decide("evict", victim, pod=victim.key, node=victim.node)
        decision["for"] = preemptor.key
        self.log.append((victim, decision))

    def place(self, task: Task, node: Node, status: str) -> bool:
        task.node = node.name
        self.session.move(task, status)
        if self.session.fire("allocate", task):
            self._take_back(task)
            return False
        op = "pipeline" if status == "Pipelined" else "allocate"
        self.log.append((task, self.session.decide(op, task, pod=task.key, node=node.name)))
        return True

    def _take_back(self, task: Task) -> None:
        session = self.session
        if task.status == "Releasing":
            session.move(task, "Running")
            session.fire("allocate", task)
            return
        session.cluster.nodes[task.node].remove(task)
        task.status = "Pending"
        session.fire("deallocate", task)
        task.node = ""

    def discard(self) -> None:
        for task, decision in reversed(self.log):
            self._take_back(task)
            self.session.decisions = [one for one in self.session.decisions if one is not decision]
        self.log = []

    def commit(self) -> None:
        for task, decision in self.log:
            decision["state"] = "committed"
            if decision["op"] == "allocate":
                self.session.bind(task)
                decision["op"] = "bind"
        self.log = []


class Session:
    """One session of a scenario."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        self.cluster = Cluster(document)
        conf = conf_of(document)
        self.actions = [name.strip() for name in conf["actions"].split(",")]
        self.entries = {entry["name"]: entry for tier in conf["tiers"] for entry in tier.get("plugins") or ()}
        self.tiers: list[list[tuple[Any, Mapping[str, Any]]]] = []
        for tier in conf["tiers"]:
            entries = tier.get("plugins") or []
            self.tiers.append(
                [(PLUGINS[entry["name"]](self, entry.get("arguments") or {}), entry) for entry in entries]
            )
        self.cache_idle = {name: dict(node.idle) for name, node in self.cluster.nodes.items()}
        self.decisions: list[Decision] = []
        self.action = ""

    # asking plugins

    def ask(self, point: str) -> list[list[Callable[..., Any]]]:
        """Return who answers a point, tier by tier."""
        switch = SWITCHES.get(point, "")
        return [
            [
                getattr(plugin, point)
                for plugin, entry in tier
                if entry.get(switch, True) and hasattr(plugin, point)
            ]
            for tier in self.tiers
        ]

    def every(self, point: str) -> list[Callable[..., Any]]:
        """Return the same over all tiers."""
        return [answer for tier in self.ask(point) for answer in tier]

    def vote(self, point: str, job: Job) -> bool:
        for tier in self.ask(point):
            permitted = False
            for answer in tier:
                opinion = answer(job)
                if opinion == REJECT:
                    return False
                permitted = permitted or opinion == PERMIT
            if permitted:
                return True
        return True

    def starving(self, job: Job) -> bool:
        tier = next((tier for tier in self.ask("job_starving") if tier), [])
        return bool(tier) and all(answer(job) for answer in tier)

    def valid(self, job: Job) -> bool:
        return not any(answer(job) for answer in self.every("job_valid"))

    def ready(self, job: Job) -> bool:
        return all(answer(job) for answer in self.every("job_ready"))

    def pipelined(self, job: Job) -> bool:
        return self.vote("job_pipelined", job)

    def overused(self, queue: Queue) -> bool:
        return any(answer(queue) for answer in self.every("overused"))

    def allocatable(self, queue: Queue, task: Task) -> bool:
        return all(answer(queue, task) for answer in self.every("allocatable"))

    def victims(self, point: str, task: Task, candidates: list[Task]) -> list[Task]:
        for tier in self.ask(point):
            chosen: list[Task] | None = None
            for answer in tier:
                accepted = answer(task, candidates)
                if not accepted:
                    chosen = None
                    break
                both = accepted if chosen is None else [one for one in chosen if one in accepted]
                chosen = both or None
            if chosen is not None:
                return chosen
        return []

    def fire(self, event: str, task: Task) -> bool:
        """Tell the plugins what happened; returns whether one reports an error."""
        handlers = [
            getattr(plugin, event) for tier in self.tiers for plugin, _ in tier if hasattr(plugin, event)
        ]
        errors = [handler(task) for handler in handlers]
        return any(error is not None for error in errors)

    # orders

    def _before(self, point: str, left: Any, right: Any, fallback: Callable[[], bool]) -> bool:
        for answer in self.every(point):
            result = answer(left, right)
            if result:
                return result < 0
        return fallback()

    def job_before(self, left: Job, right: Job) -> bool:
        mine, theirs = (left.creation, left.key), (right.creation, right.key)
        return self._before("job_order", left, right, lambda: mine < theirs)

    def queue_before(self, left: Queue, right: Queue) -> bool:
        mine, theirs = (left.creation, left.name), (right.creation, right.name)
        return self._before("queue_order", left, right, lambda: mine < theirs)

    def task_before(self, left: Task, right: Task) -> bool:
        def fallback() -> bool:
            if None not in (left.index, right.index) and left.index != right.index:
                return left.index < right.index
            return (left.creation, left.uid) < (right.creation, right.uid)

        return self._before("task_order", left, right, fallback)

    def loses_before(self, left: Task, right: Task, preemptor: Task) -> bool:
        if left.job is right.job:
            return not self.task_before(left, right)
        if left.job.queue != right.job.queue:
            mine, theirs, its = (self.cluster.queues[one.job.queue] for one in (left, right, preemptor))
            for answer in self.every("victim_queue_order"):
                if result := answer(mine, theirs, its):
                    return result < 0
            return not self.queue_before(mine, theirs)
        for answer in self.every("job_order"):
            result = answer(left.job, right.job)
            if result:
                return result > 0
        return not self.task_before(left, right)

    def losing_order(self, victims: list[Task], preemptor: Task) -> Heap[Task]:
        return Heap(lambda left, right: self.loses_before(left, right, preemptor), victims)

    # state

    def move(self, task: Task, status: str) -> None:
        """Give a task another status, in its job and on its node."""
        node = self.cluster.nodes[task.node]
        if task.key in node.tasks:
            node.remove(task)
        task.status = status
        node.add(task)

    def decide(self, op: str, task: Task | None, job: Job | None = None, **facts: str) -> Decision:
        owner = job or task.job
        decision = {"action": self.action, "op": op, "job": owner.key, **facts, "state": "kept"}
        self.decisions.append(decision)
        return decision

    def bind(self, task: Task) -> bool:
        """Hand a task to the binder."""
        if not fits(task.request, self.cache_idle[task.node]):
            return False
        self.cache_idle[task.node] = {
            name: amount - task.request.get(name, 0.0) for name, amount in self.cache_idle[task.node].items()
        }
        task.status = "Binding"
        return True

    # nodes

    def predicate(self, task: Task, node: Node) -> list[int]:
        for answer in self.every("predicate"):
            codes = answer(task, node)
            if codes:
                return codes
        return []

    def look_first(self, task: Task) -> None:
        for answer in self.every("pre_predicate"):
            answer(task)

    def passing(
        self, task: Task, nodes: Iterable[Node], cache: Cache | None, *, room: bool, lenient: bool
    ) -> tuple[list[Node], dict[str, list[int]]]:
        """Return the nodes that take a task, and the codes with which the others refuse it."""
        group = f"{task.job.key}/{task.role}" if task.role and cache is not None else ""
        known = dict(cache.get(group, {})) if cache is not None and group else {}
        found, errors = [], {}
        for node in nodes:
            codes = known.get(node.name)
            if codes is None:
                codes = [2] if room and not fits_future(task, node) else self.predicate(task, node)
            if [code for code in codes if code != 2] if lenient else codes:
                errors[node.name] = codes
                if cache is not None and group:
                    cache.setdefault(group, {}).setdefault(node.name, codes)
            else:
                found.append(node)
        return found, errors

    def scores(self, task: Task, nodes: list[Node]) -> list[float]:
        own = [sum([answer(task, node) for answer in self.every("node_order")], start=0.0) for node in nodes]
        batches = [answer(task, nodes) for answer in self.every("batch_node_order")]
        return [mine + sum(parts, start=0.0) for mine, *parts in zip(own, *batches, strict=True)]

    def best(self, task: Task, nodes: list[Node]) -> Node | None:
        if len(nodes) < 2:
            return nodes[0] if nodes else None
        scores = self.scores(task, nodes)
        return nodes[scores.index(max(scores))]

    # close

    def phase_after(self, job: Job) -> str:
        """Return the phase that is written when the session closes."""
        has_gang = any(entry["name"] == "gang" for tier in self.tiers for _, entry in tier)
        if job.count("Running") and has_gang and not job.is_ready():
            return "Unknown"
        completed = job.count("Succeeded", "Failed")
        scheduled = job.count("Running", "Bound") + completed
        if scheduled >= job.min_available:
            return "Completed" if scheduled == completed else "Running"
        return "Inqueue" if job.phase == "Inqueue" else "Pending"
