"""Evictions by preempt and reclaim: ``spec/actions.md`` 3 and 4."""

from __future__ import annotations

from tests.reference.cluster import Node, Queue, fits_future
from tests.reference.dry_run import by_dry_run
from tests.reference.heap import Heap
from tests.reference.jobs import Job
from tests.reference.pods import Task
from tests.reference.resources import Vector, added, fits, is_empty
from tests.reference.session import Cache, Session
from tests.reference.statement import Statement
from tests.reference.tdm import Tdm


def preempt(session: Session) -> None:
    queues, starving = Heap(session.queue_before), {}
    for job in session.cluster.jobs.values():
        if not job.is_pending and session.valid(job) and session.starving(job):
            starving.setdefault(job.queue, []).append(job)
    for name in sorted(starving):
        queues.push(session.cluster.queues[name])
    cache = session.new_cache()
    while queues:
        queue = queues.pop()
        jobs = Heap(session.job_before, starving[queue.name])
        tasks = {job.key: Heap(session.task_before, job.pending()) for job in starving[queue.name]}
        while jobs:
            job, statement, assigned = jobs.pop(), Statement(session), False
            while session.starving(job) and tasks[job.key]:
                assigned = attempt(session, queue, tasks[job.key].pop(), statement, cache, inside=False)
            if not session.pipelined(job):
                statement.discard()
                continue
            statement.commit()
            if assigned:
                jobs.push(job)
        for job in starving[queue.name]:
            waiting = Heap(session.task_before, job.pending())
            while waiting:
                statement = Statement(session)
                if not attempt(session, queue, waiting.pop(), statement, cache, inside=True):
                    statement.discard()
                    break
                statement.commit()


def attempt(
    session: Session, queue: Queue, task: Task, statement: Statement, cache: Cache | None, *, inside: bool
) -> bool:
    """Try to make room for a task. Section 3.3."""
    if task.never_preempts or not may_preempt_again(session, task) or not session.look_first(task):
        return False
    nodes, _ = session.passing(task, resolvable_nodes(session, task), cache, room=False, lenient=True)
    if session.argument("enableTopologyAwarePreemption", False):
        possible = {node.name: victims_on(session, task, node, inside=inside) for node in nodes}
        enough = {
            node.name: possible[node.name]
            for node in nodes
            if suffices(task, node.future(), possible[node.name])
        }
        return by_dry_run(session, queue, task, statement, nodes, enough)
    scores = session.scores(task, nodes) if nodes else None
    ranked = sorted(zip(scores or (), nodes, strict=False), key=lambda pair: -pair[0])
    for _, node in ranked:
        victims = victims_on(session, task, node, inside=inside)
        if not suffices(task, node.future(), victims):
            continue
        mine, heap, freed = Statement(session), session.losing_order(victims, task), dict[str, float]()
        while heap and not (session.allocatable(queue, task) and fits_future(task, node)):
            victim = heap.pop()
            mine.evict(victim, task)
            freed = added(freed, victim.request)
        fitting = session.allocatable(queue, task) and fits_future(task, node)
        if fitting and mine.place(task, node, "Pipelined", evicts=not is_empty(freed)):
            statement.log += mine.log
            return True
        mine.discard()
    return False


def may_preempt_again(session: Session, task: Task) -> bool:
    """Return whether a nominated task may preempt: not while its node fits it or releases pods. Step P0."""
    if not task.nominated:
        return True
    node = session.cluster.nodes.get(task.nominated)
    if node is None:
        return False
    codes = session.predicate(task, node)
    if not codes:
        return False
    return 3 in codes or not any(
        one.pod_priority < task.pod_priority and one.leaves and _is_preempted(one) for one in node.in_order()
    )


def _is_preempted(task: Task) -> bool:
    conditions = task.pod_status.get("conditions") or ()
    first = next((one for one in conditions if one.get("type") == "DisruptionTarget"), {})
    return first.get("status") == "True" and first.get("reason") == "PreemptionByScheduler"


def victims_on(session: Session, task: Task, node: Node, *, inside: bool) -> list[Task]:
    """Return the victims for a task on a node, of its own job or of the other jobs of its queue."""
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
    return session.victims("preemptable", task, candidates)


def suffices(task: Task, available: Vector, victims: list[Task]) -> bool:
    """Return whether a task fits after some victims are gone."""
    for victim in victims:
        available = added(available, victim.request)
    return fits(task.request, available)


def resolvable_nodes(session: Session, task: Task) -> list[Node]:
    errors = task.job.fit_errors.get(task.uid, {})
    return [node for node in session.cluster.nodes.values() if 3 not in errors.get(node.name, [])]


def starving_jobs(session: Session) -> tuple[Heap[Queue], dict[str, Heap[Job]]]:
    """Return the queues with enqueued jobs, and the starving jobs of each."""
    queues, jobs = Heap(session.queue_before), dict[str, Heap[Job]]()
    for job in session.cluster.jobs.values():
        if job.is_pending or not session.valid(job):
            continue
        if job.queue not in jobs:
            jobs[job.queue] = Heap(session.job_before)
            queues.push(session.cluster.queues[job.queue])
        if session.starving(job):
            jobs[job.queue].push(job)
    return queues, jobs


def reclaim(session: Session) -> None:
    queues, jobs = starving_jobs(session)
    every = session.cluster.jobs.values()
    tasks = {job.key: Heap(session.task_before, job.pending()) for job in every}
    while queues:
        queue = queues.pop()
        if session.overused(queue):
            continue
        while jobs[queue.name]:
            job, statement = jobs[queue.name].pop(), Statement(session)
            while session.starving(job) and tasks[job.key]:
                task = tasks[job.key].pop()
                if task.never_preempts or not session.preemptive(queue, [task]):
                    continue
                if session.look_first(task):
                    reclaim_for(session, task, statement)
            if session.pipelined(job):
                statement.commit()
            else:
                statement.discard()
            if jobs[queue.name]:
                queues.push(queue)


def reclaim_for(session: Session, task: Task, statement: Statement) -> None:
    nodes, _ = session.passing(
        task, resolvable_nodes(session, task), session.new_cache(), room=False, lenient=True
    )
    for node in nodes:
        candidates = [
            victim
            for victim in node.in_order()
            if node.tasks[victim.key][1] == "Running"
            and victim.preemptable
            and victim.job is not None
            and victim.job.queue != task.job.queue
            and session.cluster.queues[victim.job.queue].reclaimable
        ]
        if not candidates:
            continue
        victims = session.victims("reclaimable", task, candidates)
        available = node.future()
        if not suffices(task, available, victims):
            continue
        mine, heap = Statement(session), session.losing_order(victims, task)
        while heap and not fits(task.request, available):
            victim = heap.pop()
            mine.evict(victim, task)
            available = added(available, victim.request)
        if fits(task.request, available) and mine.place(task, node, "Pipelined", evicts=bool(mine.log)):
            statement.log += mine.log
            return
        mine.discard()


def _scalars(amounts: Vector) -> Vector:
    return {name: 0.0 if name in ("cpu", "memory") else amount for name, amount in amounts.items()}


def shuffle(session: Session) -> None:
    """Evict the pods that plugins select. Section 8."""
    running = [
        task for job in session.cluster.jobs.values() for task in job.tasks if task.status == "Running"
    ]
    for tier in session.ask("victim_tasks"):
        answers = [(answer.__self__, victim) for answer in tier for victim in answer(running)]
        victims = {victim.key: victim for _, victim in answers}
        records = {victim.key for plugin, victim in answers if isinstance(plugin, Tdm)}
        for key in sorted(victims):
            if victims[key].node in session.cluster.nodes:
                node = session.cluster.nodes[victims[key].node]
                releasing = node.releasing
                statement = Statement(session)
                statement.evict(victims[key], None)
                statement.commit()
                if key in records:
                    node.releasing = releasing if any(releasing.values()) else _scalars(node.releasing)
        if victims:
            return
