"""Who is evicted for whom? ``spec/actions.md`` 3 and 4."""

from __future__ import annotations

from tests.reference.cluster import Node, Queue, Task, fits_future
from tests.reference.heap import Heap
from tests.reference.resources import added, fits, total
from tests.reference.session import Cache, Session, Statement


def preempt(session: Session) -> None:
    queues, starving = Heap(session.queue_before), {}
    for job in session.cluster.jobs.values():
        if not job.is_pending and session.valid(job) and session.starving(job):
            starving.setdefault(job.queue, []).append(job)
    for name in sorted(starving):
        queues.push(session.cluster.queues[name])
    cache: Cache = {}
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
    session: Session, queue: Queue, task: Task, statement: Statement, cache: Cache, *, inside: bool
) -> bool:
    if task.never_preempts:
        return False
    session.look_first(task)
    nodes, _ = session.passing(task, resolvable_nodes(session, task), cache, room=False, lenient=True)
    ranked = (
        sorted(zip(session.scores(task, nodes), nodes, strict=True), key=lambda pair: -pair[0])
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
        victims = session.victims("preemptable", task, candidates)
        if not fits(task.request, added(node.future(), total(victim.request for victim in victims))):
            continue
        mine, heap = Statement(session), session.losing_order(victims, task)
        while heap and not (session.allocatable(queue, task) and fits_future(task, node)):
            mine.evict(heap.pop(), task)
        fitting = session.allocatable(queue, task) and fits_future(task, node)
        if fitting and mine.place(task, node, "Pipelined"):
            statement.log += mine.log
            return True
        mine.discard()
    return False


def resolvable_nodes(session: Session, task: Task) -> list[Node]:
    errors = task.job.fit_errors.get(task.uid, {})
    return [node for node in session.cluster.nodes.values() if 3 not in errors.get(node.name, [])]


def reclaim(session: Session) -> None:
    queues, jobs, tasks = Heap(session.queue_before), {}, {}
    for job in session.cluster.jobs.values():
        if job.is_pending or not session.valid(job):
            continue
        if job.queue not in jobs:
            jobs[job.queue] = Heap(session.job_before)
            queues.push(session.cluster.queues[job.queue])
        if session.starving(job):
            jobs[job.queue].push(job)
            tasks[job.key] = Heap(session.task_before, job.pending())
    while queues:
        queue = queues.pop()
        if session.overused(queue):
            continue
        while jobs[queue.name]:
            job, statement = jobs[queue.name].pop(), Statement(session)
            while session.starving(job) and tasks[job.key]:
                task = tasks[job.key].pop()
                may = all(answer(queue, [task]) for answer in session.every("preemptive"))
                if not task.never_preempts and may:
                    session.look_first(task)
                    reclaim_for(session, task, statement)
            if session.pipelined(job):
                statement.commit()
            else:
                statement.discard()
            if jobs[queue.name]:
                queues.push(queue)


def reclaim_for(session: Session, task: Task, statement: Statement) -> None:
    nodes, _ = session.passing(task, resolvable_nodes(session, task), {}, room=False, lenient=True)
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
        if not fits(task.request, added(available, total(victim.request for victim in victims))):
            continue
        mine, heap = Statement(session), session.losing_order(victims, task)
        while heap and not fits(task.request, available):
            victim = heap.pop()
            mine.evict(victim, task)
            available = added(available, victim.request)
        if fits(task.request, available) and mine.place(task, node, "Pipelined"):
            statement.log += mine.log
            return
        mine.discard()
