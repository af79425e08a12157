"""What does Volcano decide in one session? Its own loops, as ``spec/actions.md`` and ``session.md`` say.

No cache, no bound, no array: every question is asked anew. `Session(document).run()` gives the decisions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Generic, TypeVar

from tests.reference.cluster import READY, Cluster, Job, Node, Queue, Task, conf_of, fits_future
from tests.reference.plugins import PERMIT, PLUGINS, REJECT
from tests.reference.resources import added, fits, total

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


class Heap(Generic[Item]):
    """The classical binary heap, which is not put in order again when what it compares changes."""

    def __init__(self, less: Callable[[Item, Item], bool], items: Iterable[Item] = ()) -> None:
        self.less, self.items = less, []
        for item in items:
            self.push(item)

    def __len__(self) -> int:
        return len(self.items)

    def push(self, item: Item) -> None:
        self.items.append(item)
        j = len(self.items) - 1
        while j > 0 and self.less(self.items[j], self.items[i := (j - 1) // 2]):
            self.items[i], self.items[j] = self.items[j], self.items[i]
            j = i

    def pop(self) -> Item:
        items, n, i = self.items, len(self.items) - 1, 0
        items[0], items[n] = items[n], items[0]
        while (j := 2 * i + 1) < n:
            if j + 1 < n and self.less(items[j + 1], items[j]):
                j += 1
            if not self.less(items[j], items[i]):
                break
            items[i], items[j] = items[j], items[i]
            i = j
        return items.pop()


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
        self.tiers: list[list[tuple[Any, Mapping[str, Any]]]] = []
        for tier in conf["tiers"]:
            entries = tier.get("plugins") or []
            self.tiers.append(
                [(PLUGINS[entry["name"]](self, entry.get("arguments") or {}), entry) for entry in entries]
            )
        self.cache_idle = {name: dict(node.idle) for name, node in self.cluster.nodes.items()}
        self.decisions: list[Decision] = []
        self.action = ""

    def run(self) -> list[Decision]:
        """Return the decisions of all actions, in order."""
        for action in self.actions:
            self.action = action
            getattr(self, f"_{action}")()
        return self.decisions

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
            queues = self.cluster.queues
            return not self.queue_before(queues[left.job.queue], queues[right.job.queue])
        for answer in self.every("job_order"):
            result = answer(left.job, right.job)
            if result:
                return result > 0
        return not self.task_before(left, right)

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

    # enqueue

    def _enqueue(self) -> None:
        queues, jobs = Heap(self.queue_before), {}
        for job in self.cluster.jobs.values():
            if job.queue not in jobs:
                jobs[job.queue] = Heap(self.job_before)
                queues.push(self.cluster.queues[job.queue])
            if job.is_pending:
                jobs[job.queue].push(job)
        while queues:
            queue = queues.pop()
            if not jobs[queue.name]:
                continue
            job = jobs[queue.name].pop()
            if job.min_resources is None or self.vote("job_enqueueable", job):
                for answer in self.every("job_enqueued"):
                    answer(job)
                job.phase = "Inqueue"
                self.decide("enqueue", None, job)["state"] = "committed"
            else:
                self.decide("enqueue_reject", None, job)["state"] = "committed"
            queues.push(queue)

    # allocate

    def _allocate(self) -> None:
        queues, jobs, tasks = Heap(self.queue_before), {}, {}
        for job in self.cluster.jobs.values():
            if job.is_pending:
                if "enqueue" in self.actions:
                    continue
                job.phase = "Inqueue"
                self.decide("enqueue", None, job)["state"] = "committed"
            waiting = [task for task in job.pending() if not task.best_effort]
            if not self.valid(job) or not waiting:
                continue
            tasks[job.key] = Heap(self.task_before, waiting)
            if job.queue not in jobs:
                jobs[job.queue] = Heap(self.job_before)
                queues.push(self.cluster.queues[job.queue])
            jobs[job.queue].push(job)
        while queues:
            queue = queues.pop()
            if self.overused(queue) or not jobs[queue.name]:
                continue
            job = jobs[queue.name].pop()
            statement = self._turn(queue, job, tasks[job.key])
            if statement is not None and self.ready(job):
                statement.commit()
                if tasks[job.key]:
                    jobs[queue.name].push(job)
            queues.push(queue)

    def _turn(self, queue: Queue, job: Job, tasks: Heap[Task]) -> Statement | None:
        statement, cache = Statement(self), {}
        if not self.cluster.nodes:
            return None
        while tasks:
            task = tasks.pop()
            if not self.allocatable(queue, task):
                continue
            failed = {one.role for one in job.tasks if one.uid in job.fit_errors}
            if task.role and task.role in failed:
                job.fit_errors[task.uid] = {}
                continue
            self.look_first(task)
            nodes, errors = self.passing(task, self.cluster.nodes.values(), cache, room=True, lenient=False)
            if not nodes:
                job.fit_errors[task.uid] = errors
                if self._goes_on(job):
                    continue
                break
            idle = [node for node in nodes if fits(task.request, node.idle)]
            node = self.best(task, idle or nodes)
            status = "Allocated" if fits(task.request, node.idle) else "Pipelined"
            if statement.place(task, node, status) and self.ready(job):
                break
        if self.ready(job) or self.pipelined(job):
            return statement
        statement.discard()
        return None

    def _goes_on(self, job: Job) -> bool:
        if job.min_available >= len(job.tasks):
            return False
        failed = {task.role for task in job.tasks if task.uid in job.fit_errors}
        if job.min_available < sum(job.minimums.values()):
            left = sum(task.status == "Pending" and task.role not in failed for task in job.tasks)
            return job.count(*READY) + left >= job.min_available
        return all(
            job.of_role(role, READY, best_effort=True) >= job.minimums[role]
            for role in failed
            if job.minimums.get(role, 0) > 0
        )

    # backfill

    def _backfill(self) -> None:
        queues, jobs, tasks = Heap(self.queue_before), {}, {}
        for job in self.cluster.jobs.values():
            if job.is_pending or not self.valid(job):
                continue
            waiting = [task for task in job.pending() if task.best_effort]
            for task in [task for task in job.tasks if task.status == "Pipelined" and task.best_effort]:
                self.decide("unpipeline", task, pod=task.key, node=task.node)["state"] = "committed"
                Statement(self)._take_back(task)
                waiting.append(task)
            if not waiting:
                continue
            tasks[job.key] = Heap(self.task_before, waiting)
            if job.queue not in jobs:
                jobs[job.queue] = Heap(self.job_before)
                queues.push(self.cluster.queues[job.queue])
            jobs[job.queue].push(job)
        ordered = []
        while queues:
            heap = jobs[queues.pop().name]
            while heap:
                ordered += _drained(tasks[heap.pop().key])
        for task in ordered:
            self.look_first(task)
            nodes, errors = self.passing(task, self.cluster.nodes.values(), None, room=False, lenient=False)
            node = self.best(task, nodes)
            if node is None:
                task.job.fit_errors[task.uid] = errors
                continue
            task.node = node.name
            self.move(task, "Allocated")
            self.fire("allocate", task)
            self.decide("allocate", task, pod=task.key, node=node.name)
            if self.ready(task.job):
                self._dispatch(task.job)

    def _dispatch(self, job: Job) -> None:
        for task in [task for task in job.tasks if task.status == "Allocated"]:
            if not self.bind(task):
                return
            for decision in self.decisions:
                if decision["op"] == "allocate" and decision["pod"] == task.key:
                    decision |= {"op": "bind", "state": "committed"}

    # preempt

    def _preempt(self) -> None:
        queues, starving = Heap(self.queue_before), {}
        for job in self.cluster.jobs.values():
            if not job.is_pending and self.valid(job) and self.starving(job):
                starving.setdefault(job.queue, []).append(job)
        for name in sorted(starving):
            queues.push(self.cluster.queues[name])
        cache: Cache = {}
        while queues:
            queue = queues.pop()
            jobs = Heap(self.job_before, starving[queue.name])
            tasks = {job.key: Heap(self.task_before, job.pending()) for job in starving[queue.name]}
            while jobs:
                job, statement, assigned = jobs.pop(), Statement(self), False
                while self.starving(job) and tasks[job.key]:
                    assigned = self._attempt(queue, tasks[job.key].pop(), statement, cache, inside=False)
                if not self.pipelined(job):
                    statement.discard()
                    continue
                statement.commit()
                if assigned:
                    jobs.push(job)
            for job in starving[queue.name]:
                waiting = Heap(self.task_before, job.pending())
                while waiting:
                    statement = Statement(self)
                    if not self._attempt(queue, waiting.pop(), statement, cache, inside=True):
                        statement.discard()
                        break
                    statement.commit()

    def _attempt(self, queue: Queue, task: Task, statement: Statement, cache: Cache, *, inside: bool) -> bool:
        if task.never_preempts:
            return False
        self.look_first(task)
        nodes, _ = self.passing(task, self._not_hopeless(task), cache, room=False, lenient=True)
        ranked = (
            sorted(zip(self.scores(task, nodes), nodes, strict=True), key=lambda pair: -pair[0])
            if nodes
            else []
        )
        for _, node in ranked:
            candidates = [
                victim
                for victim in node.in_order()
                if node.tasks[victim.key][1] in ("Bound", "Running")
                and (victim.best_effort or not task.best_effort)
                and victim.preemptable
                and victim.job is not None
                and victim.job.queue == task.job.queue
                and (victim.job is task.job) is inside
            ]
            victims = self.victims("preemptable", task, candidates)
            if not fits(task.request, added(node.future(), total(victim.request for victim in victims))):
                continue
            mine, heap = Statement(self), self._losing_order(victims, task)
            while heap and not (self.allocatable(queue, task) and fits_future(task, node)):
                mine.evict(heap.pop(), task)
            fitting = self.allocatable(queue, task) and fits_future(task, node)
            if fitting and mine.place(task, node, "Pipelined"):
                statement.log += mine.log
                return True
            mine.discard()
        return False

    def _losing_order(self, victims: list[Task], preemptor: Task) -> Heap[Task]:
        return Heap(lambda left, right: self.loses_before(left, right, preemptor), victims)

    def _not_hopeless(self, task: Task) -> list[Node]:
        errors = task.job.fit_errors.get(task.uid, {})
        return [node for node in self.cluster.nodes.values() if 3 not in errors.get(node.name, [])]

    # reclaim

    def _reclaim(self) -> None:
        queues, jobs, tasks = Heap(self.queue_before), {}, {}
        for job in self.cluster.jobs.values():
            if job.is_pending or not self.valid(job):
                continue
            if job.queue not in jobs:
                jobs[job.queue] = Heap(self.job_before)
                queues.push(self.cluster.queues[job.queue])
            if self.starving(job):
                jobs[job.queue].push(job)
                tasks[job.key] = Heap(self.task_before, job.pending())
        while queues:
            queue = queues.pop()
            if self.overused(queue):
                continue
            while jobs[queue.name]:
                job, statement = jobs[queue.name].pop(), Statement(self)
                while self.starving(job) and tasks[job.key]:
                    task = tasks[job.key].pop()
                    may = all(answer(queue, [task]) for answer in self.every("preemptive"))
                    if not task.never_preempts and may:
                        self.look_first(task)
                        self._reclaim_for(task, statement)
                if self.pipelined(job):
                    statement.commit()
                else:
                    statement.discard()
                if jobs[queue.name]:
                    queues.push(queue)

    def _reclaim_for(self, task: Task, statement: Statement) -> None:
        nodes, _ = self.passing(task, self._not_hopeless(task), {}, room=False, lenient=True)
        for node in nodes:
            candidates = [
                victim
                for victim in node.in_order()
                if node.tasks[victim.key][1] == "Running"
                and victim.preemptable
                and victim.job is not None
                and victim.job.queue != task.job.queue
                and self.cluster.queues[victim.job.queue].reclaimable
            ]
            if not candidates:
                continue
            victims = self.victims("reclaimable", task, candidates)
            available = node.future()
            if not fits(task.request, added(available, total(victim.request for victim in victims))):
                continue
            mine, heap = Statement(self), self._losing_order(victims, task)
            while heap and not fits(task.request, available):
                victim = heap.pop()
                mine.evict(victim, task)
                available = added(available, victim.request)
            if fits(task.request, available) and mine.place(task, node, "Pipelined"):
                statement.log += mine.log
                return
            mine.discard()

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


def _drained(heap: Heap[Item]) -> list[Item]:
    drained = []
    while heap:
        drained.append(heap.pop())
    return drained
