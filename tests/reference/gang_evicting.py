"""Evictions by gangpreempt and gangreclaim, gang by gang: ``spec/actions.md`` 6 and 7."""

from __future__ import annotations

from collections.abc import Callable
from functools import cmp_to_key
from typing import NamedTuple

from tests.reference.cluster import Node, Queue
from tests.reference.evicting import resolvable_nodes, starving_jobs
from tests.reference.heap import Heap
from tests.reference.jobs import Job
from tests.reference.pods import READY, Task
from tests.reference.resources import Vector, added, fits, names_of, total
from tests.reference.session import Session
from tests.reference.statement import Statement


class Bundle(NamedTuple):
    """Tasks of one job that are evicted together; a whole bundle breaks the job's gang."""

    tasks: list[Task]
    whole: bool

    @property
    def job(self) -> Job:
        return self.tasks[0].job


def gangpreempt(session: Session) -> None:
    evict_for_gangs(session, preempts)


def gangreclaim(session: Session) -> None:
    evict_for_gangs(session, reclaims)


def preempts(_session: Session, job: Job, victim: Task) -> bool:
    """Return whether a job may consider a victim of its own queue."""
    other = victim.job
    return (
        victim.status in ("Bound", "Running")
        and other is not job
        and other.queue == job.queue
        and other.priority < job.priority
    )


def reclaims(session: Session, job: Job, victim: Task) -> bool:
    """Return whether a job may consider a victim of another queue."""
    other = victim.job
    return (
        victim.status == "Running"
        and other.queue != job.queue
        and session.cluster.queues[other.queue].reclaimable
    )


def evict_for_gangs(session: Session, may_look_at: Callable[[Session, Job, Task], bool]) -> None:
    queues, jobs = starving_jobs(session)
    while queues:
        queue = queues.pop()
        if may_look_at is reclaims and session.overused(queue):
            continue
        while jobs[queue.name]:
            job, statement = jobs[queue.name].pop(), Statement(session)
            wanted = Heap(session.task_before, [task for task in job.pending() if not task.best_effort])
            tasks = [wanted.pop() for _ in range(len(wanted))]
            asks = may_look_at is preempts or session.preemptive(queue, tasks)
            if tasks and asks:
                make_room(session, queue, job, tasks, statement, may_look_at)
            if session.pipelined(job):
                statement.commit()
            else:
                statement.discard()


def make_room(
    session: Session,
    queue: Queue,
    job: Job,
    tasks: list[Task],
    statement: Statement,
    may_look_at: Callable[[Session, Job, Task], bool],
) -> None:
    """Evict bundle after bundle until the tasks fit."""
    demand, nodes = total(task.request for task in tasks), list(session.cluster.nodes.values())
    available = total(added(node.idle, node.releasing) for node in nodes)
    victims: list[Task] = []
    for bundle in bundles_for(session, job, tasks[0], demand, nodes, may_look_at):
        victims += bundle.tasks
        room = added(available, total(victim.request for victim in victims))
        if fits(demand, room) and carry_out(session, queue, job, tasks, victims, statement):
            return


def carry_out(
    session: Session, queue: Queue, job: Job, tasks: list[Task], victims: list[Task], statement: Statement
) -> bool:
    """Evict victims and pipeline tasks; discard everything if one fits no node."""
    mine, cache = Statement(session), session.new_cache()
    for victim in victims:
        mine.evict(victim, None)
    for task in tasks:
        node = None
        if session.allocatable(queue, task) and session.look_first(task):
            nodes = resolvable_nodes(session, task) or session.cluster.nodes.values()
            found, _ = session.passing(task, nodes, cache, room=True, lenient=True)
            node = session.choice(task, found)
        placed = node is not None and mine.place(task, node, "Pipelined", evicts=True)
        if node is not None and not placed:
            session.fire("deallocate", task)  # a refused placement is taken back twice
        if not placed:
            mine.discard()
            return False
    if not session.pipelined(job):
        mine.discard()
        return False
    statement.log += mine.log
    return True


def bundles_for(
    session: Session,
    job: Job,
    task: Task,
    demand: Vector,
    nodes: list[Node],
    may_look_at: Callable[[Session, Job, Task], bool],
) -> list[Bundle]:
    """Return the evictable bundles, the cheapest first."""
    grouped: dict[str, list[Task]] = {}
    for node in nodes:
        for victim in node.in_order():
            if (
                victim.job is not None
                and victim.preemptable
                and (victim.job.preemptable or not victim.job.says_preemptable)
                and may_look_at(session, job, victim)
            ):
                grouped.setdefault(victim.job.key, []).append(victim)
    bundles = [bundle for key in sorted(grouped) for bundle in split(grouped[key])]
    bundles = in_order(session, bundles, task, demand)
    everything = [victim for bundle in bundles for victim in bundle.tasks]
    allowed = session.victims("unified_evictable", task, everything) if everything else []
    left = []
    for bundle in bundles:
        tasks = [victim for victim in bundle.tasks if victim in allowed]
        if tasks and (not bundle.whole or len(tasks) == len(bundle.tasks)):
            left.append(Bundle(tasks, bundle.whole))
    left = in_order(session, left, task, demand)
    return [one for one in left if not one.whole or session.argument("allowWholeBundle", True)]


def split(tasks: list[Task]) -> list[Bundle]:
    """Return the tasks that a job can lose without breaking its gang, and the others."""
    job = tasks[0].job
    ordered = sorted(tasks, key=lambda task: (task.priority, task.uid))
    surplus = job.count(*READY) - job.min_available
    if surplus < 0:
        return [Bundle(ordered, False)]
    bound = job.min_available >= sum(job.minimums.values())
    roles = {role: job.of_role(role, READY, best_effort=True) for role in job.minimums}
    safe, rest = [], []
    for task in ordered:
        counts = bound and task.role in job.minimums
        if surplus > 0 and not (counts and roles[task.role] <= job.minimums[task.role]):
            safe.append(task)
            surplus -= 1
            if counts:
                roles[task.role] -= 1
        else:
            rest.append(task)
    return [Bundle(part, whole) for part, whole in ((safe, False), (rest, True)) if part]


def in_order(session: Session, bundles: list[Bundle], task: Task, demand: Vector) -> list[Bundle]:
    """Return the bundles in order of eviction."""
    preemptor = session.cluster.queues[task.job.queue]

    def compare(left: Bundle, right: Bundle) -> int:
        if left.whole != right.whole:
            return 1 if left.whole else -1
        served = session.loses_first(left.job, right.job, preemptor)
        if served:
            return served
        mine, theirs = gain(left, demand), gain(right, demand)
        if mine != theirs:
            return -1 if mine > theirs else 1
        keys = [(one.job.key, one.tasks[0].uid, len(one.tasks)) for one in (left, right)]
        return (keys[0] > keys[1]) - (keys[0] < keys[1])

    return sorted(bundles, key=cmp_to_key(compare))


def gain(bundle: Bundle, demand: Vector) -> float:
    """Return the part of the demand that a bundle frees per cost; a safe bundle costs nothing."""
    if not bundle.whole:
        return float("inf")
    freed = total(task.request for task in bundle.tasks)
    lost = total(task.request for task in bundle.job.tasks)
    benefit = sum(min(freed.get(name, 0.0), demand[name]) / demand[name] for name in names_of(demand))
    cost = sum(lost.get(name, 0.0) / demand[name] for name in names_of(demand))
    return benefit / cost if cost else float("inf")
