"""The deserved amount and real capability of queues in a new session, for any queues and configuration.

The allocated and requested amounts of a cluster's jobs are summed once; any queues and configuration can then
be evaluated without reading the jobs again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from scheduler_core import result as shown
from scheduler_core.admission import Admission
from scheduler_core.conf import SchedulerConf, parse_conf
from scheduler_core.errors import InputError, SchedulerHang, SchedulerPanic
from scheduler_core.failure import sentence_of
from scheduler_core.framework.session import Session
from scheduler_core.model.job import JobInfo
from scheduler_core.model.queue import ROOT, QueueInfo, ancestors
from scheduler_core.model.queue_account import QueueAccount
from scheduler_core.model.queue_part import JobAmounts, Part
from scheduler_core.model.queue_sums import QueueSums
from scheduler_core.model.snapshot import Snapshot, take_snapshot
from scheduler_core.model.status import TaskStatus
from scheduler_core.plugins.registry import OPENERS
from scheduler_core.release import Release, release_of
from scheduler_core.rendering import amounts
from scheduler_core.resource import Resource, total_of
from scheduler_core.validate import Inspection

Object = Mapping[str, Any]

QUEUE_PLUGINS = ("proportion", "capacity")
"""The plugins that determine what queues deserve."""
_SETTINGS = ("admission_defaults", "default_queues", "release")


@dataclass(frozen=True)
class QueueDemand:
    """The totals of the jobs of one queue.

    Attributes
    ----------
    first_job : str
        The smallest key of these jobs.
    jobs, running, pending : int
        Numbers of PodGroups, and of their running and waiting pods.
    allocated, waiting, elastic, inqueue : Resource
        As in a queue's account; `waiting` is the request of pending pods.

    """

    first_job: str
    jobs: int
    running: int
    pending: int
    allocated: Resource
    waiting: Resource
    elastic: Resource
    inqueue: Resource


@dataclass(frozen=True)
class Demand:
    """The total of a cluster, and the allocated and requested amounts of the jobs of each queue.

    Attributes
    ----------
    total : Resource
        The sum of all nodes' allocatable.
    queues : dict
        By the queue's name, including names of queues that do not exist.
    settings : dict
        The scenario's settings for queues that it does not list.

    """

    total: Resource
    queues: Mapping[str, QueueDemand]
    settings: Object


def demand_of(document: Object) -> Demand:
    """Return the demand of a scenario, whatever its queues are.

    Raises
    ------
    InputError
        If the scenario cannot be simulated.

    """
    cluster = Admission(document).cluster()
    named = {
        (podgroup.get("spec") or {}).get("queue") or "default" for podgroup in cluster.podgroups.values()
    }
    snapshot = take_snapshot(replace(cluster, queues=[{"metadata": {"name": name}} for name in named]))
    jobs: dict[str, list[JobInfo]] = {}
    for job in snapshot.jobs.values():
        jobs.setdefault(job.queue, []).append(job)
    release = release_of(document)
    return Demand(
        total=total_of(snapshot.allocatable),
        queues={name: _queue_demand(snapshot, name, of_queue, release) for name, of_queue in jobs.items()},
        settings={name: document[name] for name in _SETTINGS if name in document},
    )


def _queue_demand(snapshot: Snapshot, queue: str, jobs: Sequence[JobInfo], release: Release) -> QueueDemand:
    account = QueueAccount(snapshot.queues[queue])
    account.set_amounts(snapshot.sums[queue], release)
    pending = [task for job in jobs for task in job.by_status[TaskStatus.PENDING].values()]
    return QueueDemand(
        first_job=jobs[0].key,
        jobs=len(jobs),
        running=sum(job.allocated_count for job in jobs),
        pending=len(pending),
        allocated=account.allocated,
        waiting=total_of(task.request for task in pending),
        elastic=account.elastic,
        inqueue=account.inqueue,
    )


def queues_at_open(demand: Demand, queues: Iterable[Object], conf: Object | None) -> dict[str, Any]:
    """Return the state of the queue plugin when a session opens, as in `at_open` of a result.

    `without_jobs` has the real capability of queues that are left out because they have no jobs. `obstacle`
    says why capacity would enqueue and place nothing; the amounts are then meaningless. If the queues or the
    configuration cannot be simulated, the only key is `error`.

    Parameters
    ----------
    demand : Demand
        The allocated and requested amounts of the jobs.
    queues : iterable
        Queue objects, which may differ from those of the demand's scenario.
    conf : mapping, optional
        The scheduler configuration as a structure; None: Volcano's default.

    """
    document = {**demand.settings, "queues": list(queues), "scheduler_conf": conf}
    errors = Inspection(document).errors()
    if errors:
        return {"error": errors[0].message}
    try:
        session = _session(demand, document, parse_conf(conf, release_of(demand.settings)))
    except (InputError, SchedulerPanic) as error:
        return {"error": sentence_of(error)}
    if crash := _crash(demand, session):
        return {"error": crash}
    obstacles = [text for report in session.registry.reports if (text := report().get("obstacle"))]
    state = shown.state(session)
    return {
        **state,
        "without_jobs": _without_jobs(session, state),
        "obstacle": obstacles[0] if obstacles else "",
    }


def _crash(demand: Demand, session: Session) -> str:
    """Return why Volcano would crash or hang when it closes the session, empty if it would not.

    It follows the parents of queues with allocated pods; root exists in every cluster unless it is left out.
    """
    for name, of_queue in demand.queues.items():
        if of_queue.running and name in session.queues and ROOT in session.queues:
            try:
                ancestors(session.queues, name)
            except (SchedulerPanic, SchedulerHang) as error:
                return sentence_of(error)
    return ""


def _without_jobs(session: Session, state: Object) -> dict[str, dict[str, float]]:
    """Return the real capability of each queue without an account; empty if no plugin sets limits."""
    if "queue_plugin" not in state:
        return {}
    guaranteed = total_of(queue.guarantee for queue in session.queues.values())
    taking_part = {queue["name"] for queue in state.get("queues") or ()}
    return {
        name: amounts(_reachable(session, queue, guaranteed))
        for name, queue in session.queues.items()
        if name not in taking_part
    }


def _reachable(session: Session, queue: QueueInfo, guaranteed: Resource) -> Resource:
    account = QueueAccount(queue)
    account.limit(session.total, guaranteed)
    return account.real_capability


def _session(demand: Demand, document: Object, conf: SchedulerConf) -> Session:
    """Open a session in which each queue has one job, its first, with the amounts of all its jobs."""
    snapshot = take_snapshot(Admission(document).cluster())
    there = {name: of_queue for name, of_queue in demand.queues.items() if name in snapshot.queues}
    jobs = {of_queue.first_job: _job(name, of_queue) for name, of_queue in there.items()}
    snapshot = replace(snapshot, allocatable=[demand.total], jobs=dict(sorted(jobs.items())))
    snapshot.sums = QueueSums({})
    snapshot.sums.exchange({of_queue.first_job: _part(name, of_queue) for name, of_queue in there.items()})
    session = Session(snapshot, conf)
    for option in conf.options():
        if option.name in QUEUE_PLUGINS:
            OPENERS[option.name](session, option.arguments)
    return session


def _job(queue: str, demand: QueueDemand) -> JobInfo:
    namespace, _, name = demand.first_job.partition("/")
    return JobInfo({"metadata": {"namespace": namespace, "name": name}}, queue, 0, 0.0)


def _part(queue: str, demand: QueueDemand) -> Part:
    request = demand.allocated.clone().add(demand.waiting)
    inqueue = demand.inqueue
    return Part(queue, JobAmounts.of(demand.allocated, request, demand.elastic, inqueue, inqueue, None))
