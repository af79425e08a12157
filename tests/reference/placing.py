"""Actions enqueue, allocate and backfill: ``spec/actions.md`` 1, 2 and 5."""

from __future__ import annotations

from tests.reference.cluster import Node, Queue, fits_future
from tests.reference.heap import Heap, drained
from tests.reference.jobs import Job
from tests.reference.pods import READY, Task
from tests.reference.resources import fits
from tests.reference.session import Session
from tests.reference.statement import Statement


def enqueue(session: Session) -> None:
    queues, jobs = Heap(session.queue_before), {}
    for job in session.cluster.jobs.values():
        if job.queue not in jobs:
            jobs[job.queue] = Heap(session.job_before)
            queues.push(session.cluster.queues[job.queue])
        if job.is_pending:
            jobs[job.queue].push(job)
    while queues:
        queue = queues.pop()
        if not jobs[queue.name]:
            continue
        job = jobs[queue.name].pop()
        if job.min_resources is None or session.vote("job_enqueueable", job):
            for answer in session.every("job_enqueued"):
                answer(job)
            job.phase = "Inqueue"
            session.decide("enqueue", None, job)["state"] = "committed"
        else:
            session.decide("enqueue_reject", None, job)["state"] = "committed"
        queues.push(queue)


def allocate(session: Session) -> None:
    queues, jobs, tasks = Heap(session.queue_before), {}, {}
    for job in session.cluster.jobs.values():
        if job.is_pending:
            if "enqueue" in session.actions:
                continue
            job.phase = "Inqueue"
            session.decide("enqueue", None, job)["state"] = "committed"
        waiting = [
            task
            for task in job.tasks
            if task.status == "Pending" and not task.deducted and not task.best_effort
        ]
        if not session.valid(job) or not waiting:
            continue
        tasks[job.key] = Heap(session.task_before, waiting)
        if job.queue not in jobs:
            jobs[job.queue] = Heap(session.job_before)
            queues.push(session.cluster.queues[job.queue])
        jobs[job.queue].push(job)
    while queues:
        queue = queues.pop()
        if session.overused(queue) or not jobs[queue.name]:
            continue
        job = jobs[queue.name].pop()
        statement = turn(session, queue, job, tasks[job.key])
        if statement is not None and session.ready(job):
            statement.commit()
            if tasks[job.key]:
                jobs[queue.name].push(job)
        queues.push(queue)


def turn(session: Session, queue: Queue, job: Job, tasks: Heap[Task]) -> Statement | None:
    statement, cache = Statement(session), session.new_cache()
    if not session.cluster.nodes:
        return None
    while tasks:
        task = tasks.pop()
        if not session.allocatable(queue, task) or task.gated:
            continue
        if task.role and task.role in {one.role for one in job.tasks if one.uid in job.fit_errors}:
            job.fit_errors[task.uid] = {}
            continue
        nodes, errors = nodes_for(session, task, cache)
        if not nodes:
            job.fit_errors[task.uid] = errors
            if goes_on(session, job):
                continue
            break
        node = session.choice(task, nodes)
        if node is None:
            continue
        status = "Allocated" if fits(task.request, node.idle) else "Pipelined"
        if statement.place(task, node, status) and session.ready(job):
            break
    if session.ready(job) or session.pipelined(job):
        return statement
    statement.discard()
    return None


def nodes_for(
    session: Session, task: Task, cache: dict[str, dict[str, list[int]]] | None
) -> tuple[list[Node], dict[str, list[int]]]:
    """Return the nodes that fit a task, only the nominated one if it fits. Section 2.4, steps 5 to 7."""
    nodes = list(session.cluster.nodes.values())
    if not session.look_first(task):
        return [], {node.name: [1] for node in nodes}
    nominated = session.cluster.nodes.get(task.nominated)
    if nominated is not None and fits_future(task, nominated):
        found, _ = session.passing(task, [nominated], cache, room=True, lenient=False)
        if found:
            return found, {}
    return session.passing(task, nodes, cache, room=True, lenient=False)


def goes_on(session: Session, job: Job) -> bool:
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


def backfill(session: Session) -> None:
    queues, jobs, tasks = Heap(session.queue_before), {}, {}
    for job in session.cluster.jobs.values():
        if job.is_pending or not session.valid(job):
            continue
        waiting = [task for task in job.pending() if task.best_effort]
        for task in [task for task in job.tasks if task.status == "Pipelined" and task.best_effort]:
            session.decide("unpipeline", task, pod=task.key, node=task.node)["state"] = "committed"
            session.take_back(task)
            waiting.append(task)
        if not waiting:
            continue
        tasks[job.key] = Heap(session.task_before, waiting)
        if job.queue not in jobs:
            jobs[job.queue] = Heap(session.job_before)
            queues.push(session.cluster.queues[job.queue])
        jobs[job.queue].push(job)
    ordered = []
    while queues:
        heap = jobs[queues.pop().name]
        while heap:
            ordered += drained(tasks[heap.pop().key])
    for task in ordered:
        nodes = list(session.cluster.nodes.values())
        if not session.look_first(task):
            task.job.fit_errors[task.uid] = {node.name: [1] for node in nodes}
            continue
        nodes, errors = session.passing(task, nodes, session.new_cache(), room=False, lenient=False)
        if not nodes:
            task.job.fit_errors[task.uid] = errors
            continue
        node = session.best(task, nodes)
        if node is None:
            continue
        task.node = node.name
        session.move(task, "Allocated")
        session.fire("allocate", task)
        session.decide("allocate", task, pod=task.key, node=node.name)
        if session.ready(task.job):
            dispatch(session, task.job)


def dispatch(session: Session, job: Job) -> None:
    for task in [task for task in job.tasks if task.status == "Allocated"]:
        if not session.bind(task):
            job.fit_errors[task.uid] = {task.node: [1]}
            return
        for decision in session.decisions:
            if decision["op"] == "allocate" and decision["pod"] == task.key:
                decision |= {"op": "bind", "state": "committed"}
