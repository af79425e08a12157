"""What does each queue deserve when queues know no parent?

Source: volcano ``pkg/scheduler/plugins/capacity/capacity.go`` (buildQueueAttrs) at v1.15.1.
"""

from __future__ import annotations

from collections.abc import Iterable

from scheduler_core.framework.session import Session
from scheduler_core.model.queue import QueueInfo
from scheduler_core.model.queue_account import capability_of, real_capability
from scheduler_core.plugins.capacity.account import NAME, CapacityAccount, Queues
from scheduler_core.resource import Absent, Resource, maximum, total_of
from scheduler_core.trace import Trace


class FlatQueues(Queues):
    """The accounts of the queues that have jobs.

    Deserved is what the queue says, at most its real capability, at least its guarantee; what it requests
    does not matter.
    """

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self._guaranteed = total_of(queue.guarantee for queue in session.queues.values())
        self._every: dict[str, CapacityAccount] = {}
        self.renew(session.queues)

    def renew(self, names: Iterable[str]) -> bool:
        """Bring the accounts of some queues up to date.

        All that the others have is a function of their own objects and jobs, of which nothing changed.
        """
        before, sums = list(self.accounts), self._session.snapshot.sums
        for name in names:
            if name not in sums:
                self.accounts.pop(name, None)
                continue
            account = self._every.get(name)
            if account is None:
                account = self._every[name] = self._account(self._session.queues[name])
            account.take(sums[name], self._session.release)
            account.measure()
            self.accounts[name] = account
        if list(self.accounts) != before:
            self.accounts = dict(sorted(self.accounts.items()))
        return True

    def _account(self, queue: QueueInfo) -> CapacityAccount:
        account = CapacityAccount(queue)
        account.capability = capability_of(queue)
        account.real_capability = real_capability(
            self._session.total,
            guaranteed=self._guaranteed,
            guarantee=queue.guarantee,
            capability=account.capability if queue.names_capability else None,
        )
        account.deserved = _deserved(account)
        return account

    def explain(self, trace: Trace) -> None:
        """Keep what each queue deserves and why, and for which jobs something is reserved."""
        for job in self._session.jobs.values():
            self.accounts[job.queue].name_reservation(job, self._session.release)
        for account in self.accounts.values():
            told = {"available": self._session.total, "guaranteed": self._guaranteed}
            trace.derive(NAME, account.name, [{"level": 0, "queue": account.name, **told, **account.terms()}])


def _deserved(account: CapacityAccount) -> Resource:
    limited = account.queue.deserved.clone().min_dimension_resource(account.real_capability, Absent.INFINITY)
    return maximum(limited, account.guarantee)
