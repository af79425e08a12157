"""What does each queue deserve when queues know no parent?

Source: volcano ``pkg/scheduler/plugins/capacity/capacity.go`` (buildQueueAttrs) at v1.15.1.
"""

from __future__ import annotations

from scheduler_core.framework.session import Session
from scheduler_core.model.queue_account import capability_of, real_capability
from scheduler_core.plugins.capacity.account import NAME, CapacityAccount, Queues
from scheduler_core.resource import Absent, Resource, maximum, total_of


def flat_queues(session: Session) -> Queues:
    """Return the accounts of the queues that have jobs.

    Deserved is what the queue says, at most its real capability, at least its guarantee; what it requests
    does not matter.
    """
    guaranteed = total_of(queue.guarantee for queue in session.queues.values())
    used = {job.queue for job in session.jobs.values()}
    queues = Queues()
    for name, queue in session.queues.items():
        if name in used:
            account = queues.accounts[name] = CapacityAccount(queue)
            account.capability = capability_of(queue)
            account.real_capability = real_capability(
                session.total,
                guaranteed=guaranteed,
                guarantee=queue.guarantee,
                capability=account.capability if queue.names_capability else None,
            )
            account.deserved = _deserved(account)
    for job in session.jobs.values():
        queues.accounts[job.queue].count(job, session.release)
    for account in queues.accounts.values():
        account.measure()
        if session.trace is not None:
            told = {"level": 0, "queue": account.name, "available": session.total, "guaranteed": guaranteed}
            session.trace.derive(NAME, account.name, [{**told, **account.terms()}])
    return queues


def _deserved(account: CapacityAccount) -> Resource:
    limited = account.queue.deserved.clone().min_dimension_resource(account.real_capability, Absent.INFINITY)
    return maximum(limited, account.guarantee)
