"""The accounts of capacity for queues without a hierarchy.

Source: volcano ``pkg/scheduler/plugins/capacity/capacity.go`` (buildQueueAttrs) at v1.15.1.
"""

from __future__ import annotations

from collections.abc import Iterable

from scheduler_core.framework.observer import Observer
from scheduler_core.framework.session import Session
from scheduler_core.model.queue_account import renew_accounts
from scheduler_core.plugins.capacity.account import NAME, CapacityAccount, Queues
from scheduler_core.resource import Absent, Resource, maximum, total_of


class FlatQueues(Queues):
    """The accounts of the queues that have jobs.

    Deserved is the amount that the queue states, at most its real capability and at least its guarantee,
    regardless of its requests.
    """

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self._every: dict[str, CapacityAccount] = {}
        self.rebuild()

    def rebuild(self) -> bool:
        """Rebuild the accounts from the session's queues."""
        queues = self._session.queues
        self._guaranteed = total_of(queue.guarantee for queue in queues.values())
        self._every.clear()
        self._chains.clear()
        return self.renew(queues)

    def renew(self, names: Iterable[str]) -> bool:
        """Update the accounts of some queues.

        All other accounts depend only on their own queues and jobs, which are unchanged.
        """
        session = self._session
        renew_accounts(self.accounts, names, session.snapshot.sums, session.release, self._account)
        return True

    def _account(self, name: str) -> CapacityAccount:
        """Return the account of a queue, created once: its limits depend on the queues alone."""
        account = self._every.get(name)
        if account is None:
            account = self._every[name] = CapacityAccount(self._session.queues[name])
            account.limit(self._session.total, self._guaranteed)
            account.deserved = _deserved(account)
        return account

    def report(self, observer: Observer) -> None:
        """Report the derivation of each queue's deserved amount, and record the reservations by job."""
        for job in self._session.jobs.values():
            self.accounts[job.queue].name_reservation(job, self._session.release)
        for account in self.accounts.values():
            divided = {"available": self._session.total, "guaranteed": self._guaranteed}
            step = {"level": 0, "queue": account.name, **divided, **account.terms()}
            observer.derived(NAME, account.name, [step])


def _deserved(account: CapacityAccount) -> Resource:
    limited = account.queue.deserved.clone().min_dimension_resource(account.real_capability, Absent.INFINITY)
    return maximum(limited, account.guarantee)
