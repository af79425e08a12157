"""The state of a session, and its calls to plugins, by ``spec/session.md``.

No cache, no bounds, no arrays: every result is computed anew.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

from tests.reference.admission import conf_of
from tests.reference.cluster import Cluster, Node, Queue, fits_future
from tests.reference.configuration import accepted, as_bool, as_int
from tests.reference.dispatch import Dispatch
from tests.reference.heap import Heap
from tests.reference.jobs import Job
from tests.reference.plugins import PLUGINS
from tests.reference.pods import ALLOCATED, Task
from tests.reference.resources import Panic, fits

Item = TypeVar("Item")
Cache = dict[str, dict[str, list[int]]]
Decision = dict[str, str]


class Session(Dispatch):
    """One session of a scenario."""

    def __init__(self, document: Mapping[str, Any], process: dict[str, float]) -> None:
        self.process = process  # what the scheduler's process remembers from session to session
        self.cluster = Cluster(document)
        conf = accepted(conf_of(document))
        self.actions = [name.strip() for name in conf["actions"].split(",")]
        self.action_arguments = {
            entry["name"]: entry.get("arguments") or {}
            for entry in reversed(conf.get("configurations") or ())
        }
        tiers = [tier.get("plugins") or [] for tier in conf["tiers"]]
        named = [entry for tier in tiers for entry in tier if entry["name"] in PLUGINS]
        self.entries = {entry["name"]: entry for entry in reversed(named)}
        # A plugin that is listed twice is opened twice, and the later instance answers both calls.
        self.instances = [
            (entry["name"], PLUGINS[entry["name"]](self, entry.get("arguments") or {})) for entry in named
        ]
        answering = dict(self.instances)
        self.tiers: list[list[tuple[Any, Mapping[str, Any]]]] = [
            [(answering[entry["name"]], entry) for entry in tier if entry["name"] in answering]
            for tier in tiers
        ]
        self.cache_idle = {name: dict(node.idle) for name, node in self.cluster.nodes.items()}
        self.decisions: list[Decision] = []
        self.action = ""

    def argument(self, name: str, default: Any) -> Any:
        """Return an argument of the running action, if it has the default's type."""
        value = self.action_arguments.get(self.action, {}).get(name, default)
        return as_bool(value, default) if isinstance(default, bool) else as_int(value, default)

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

    def loses_first(self, left: Job, right: Job, preemptor: Queue) -> int:
        """Compare two jobs by eviction order: by queue, then by job."""
        if self.action == "gangpreempt":
            return 0 if left is right else (1 if self.job_before(left, right) else -1)
        mine, theirs = self.cluster.queues[left.queue], self.cluster.queues[right.queue]
        if mine is theirs:
            return 0
        for answer in self.every("victim_queue_order"):
            if result := answer(mine, theirs, preemptor):
                return result
        return 1 if self.queue_before(mine, theirs) else -1

    def losing_order(self, victims: list[Task], preemptor: Task) -> Heap[Task]:
        return Heap(lambda left, right: self.loses_before(left, right, preemptor), victims)

    # state

    def move(self, task: Task, status: str) -> None:
        """Change a task's status, in its job and on its node."""
        node = self.cluster.nodes[task.node]
        if task.key in node.tasks:
            node.remove(task)
        task.status = status
        node.add(task)

    def take_back(self, task: Task) -> None:
        """Undo a placement, or an eviction, which leaves the task running."""
        if task.status == "Releasing":
            self.move(task, "Running")
            self.fire("allocate", task)
            return
        self.cluster.nodes[task.node].remove(task)
        task.status = "Pending"
        self.fire("deallocate", task)
        task.node = ""

    def decide(self, op: str, task: Task | None, job: Job | None = None, **facts: str) -> Decision:
        owner = job or task.job
        decision = {"action": self.action, "op": op, "job": owner.key, **facts, "state": "kept"}
        self.decisions.append(decision)
        return decision

    def bind(self, task: Task) -> bool:
        """Pass a task to the binder."""
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

    def look_first(self, task: Task) -> bool:
        """Call the pre-predicates; return whether none reports an error."""
        return not any(answer(task) for answer in self.every("pre_predicate"))

    def passing(
        self, task: Task, nodes: Iterable[Node], cache: Cache | None, *, room: bool, lenient: bool
    ) -> tuple[list[Node], dict[str, list[int]]]:
        """Return the nodes that accept a task, and the rejection codes of the others."""
        group = f"{task.job.key}/{task.role}" if task.role and cache is not None else ""
        known = dict(cache.get(group, {})) if cache is not None and group else {}
        found, errors = [], {}
        for node in nodes:
            codes = known.get(node.name) or self.refusal(task, node, room=room, lenient=lenient)
            if codes:
                errors[node.name] = codes
                if cache is not None and group:
                    cache.setdefault(group, {}).setdefault(node.name, codes)
            else:
                found.append(node)
        return found, errors

    def refusal(self, task: Task, node: Node, *, room: bool, lenient: bool) -> list[int]:
        """Return the rejection codes of a node for a task; a lenient action ignores a plugin's code 2."""
        if room and not fits_future(task, node):
            return [2]
        codes = self.predicate(task, node)
        return codes if not lenient or {*codes} - {2} else []

    def new_cache(self) -> Cache | None:
        """Return a cache of node errors, unless the action disables it."""
        return {} if self.argument("predicateErrorCacheEnable", True) else None

    def scores(self, task: Task, nodes: list[Node]) -> list[float] | None:
        """Return the scores of nodes, None if a batch fails. ``spec/scoring.md`` 1.3 and 1.4."""
        own = [self._own_score(task, node) for node in nodes]
        batches = [answer(task, nodes) for answer in self.every("batch_node_order")]
        if None in batches:
            return None
        return [mine + sum(parts, start=0.0) for mine, *parts in zip(own, *batches, strict=True)]

    def _own_score(self, task: Task, node: Node) -> float:
        parts = [answer(task, node) for answer in self.every("node_order")]
        return 0.0 if None in parts else sum(parts, start=0.0)

    def best(self, task: Task, nodes: list[Node]) -> Node | None:
        if len(nodes) < 2:
            return nodes[0] if nodes else None
        scores = self.scores(task, nodes)
        return None if scores is None else nodes[scores.index(max(scores))]

    def choice(self, task: Task, nodes: list[Node]) -> Node | None:
        """Return the best node that fits now, otherwise the best that fits in the future."""
        idle = [node for node in nodes if fits(task.request, node.idle)]
        later = [node for node in nodes if node not in idle and fits_future(task, node)]
        return self.best(task, idle) or self.best(task, later)

    # close

    def phase_after(self, job: Job) -> str:
        """Return the phase written when the session closes."""
        has_gang = any(name == "gang" for name, _ in self.instances)
        if job.count("Running") and has_gang and not job.is_ready():
            return "Unknown"
        completed = job.count("Succeeded", "Failed")
        scheduled = job.count("Running", "Bound") + completed
        if scheduled >= job.min_available:
            return "Completed" if scheduled == completed else "Running"
        return "Inqueue" if job.phase == "Inqueue" else "Pending"

    def close(self) -> None:
        """Add up the allocated amounts of every queue and its ancestors, following parents without checks."""
        queues = self.cluster.queues
        for job in self.cluster.jobs.values():
            if "root" not in queues or not job.count(*ALLOCATED):
                continue
            seen, name = {job.queue}, job.queue
            while name != "root":
                name = queues[name].parent
                if name in seen:
                    raise Panic(f"the parents of {job.queue} are a circle")
                if name not in queues:
                    raise Panic(f"{name}, a parent of {job.queue}, does not exist")
                seen.add(name)
