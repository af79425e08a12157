"""Who takes part in the division, and with which amounts?"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from scheduler_core.framework.session import Session
from scheduler_core.model.axis import ResourceAxis
from scheduler_core.model.queue import QueueInfo
from scheduler_core.model.queue_account import QueueAccount, capability_of, real_capability
from scheduler_core.plugins.proportion.deserved import Mask, Matrix, Round, covers, rounds_of_deserved
from scheduler_core.resource import MEMORY, PODS, Resource, total_of
from scheduler_core.trace import Trace

NAME = "proportion"


class Accounts(dict[str, QueueAccount]):
    """The accounts of the queues that have jobs, by name; the others take no part.

    The guarantees of all queues, also of those without jobs, are set aside from what each one can reach.
    """

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self._guaranteed = total_of(queue.guarantee for queue in session.queues.values())
        self._every: dict[str, QueueAccount] = {}
        self._divided: list[tuple[str, dict[str, float]]] | None = None
        self.renew(session.queues)
        if session.trace is not None:
            for job in session.jobs.values():
                self[job.queue].name_reservation(job, session.release)

    def renew(self, names: Iterable[str]) -> None:
        """Bring the accounts of some queues up to date, and divide anew where any requests something else."""
        before, sums = list(self), self._session.snapshot.sums
        for name in names:
            if name not in sums:
                self.pop(name, None)
                continue
            account = self._every.get(name)
            if account is None:
                account = self._every[name] = self._account(self._session.queues[name])
            account.take(sums[name], self._session.release)
            account.measure()
            self[name] = account
        if list(self) != before:
            entries = sorted(self.items())
            self.clear()
            self.update(entries)
        self._divide()

    def _account(self, queue: QueueInfo) -> QueueAccount:
        account = QueueAccount(queue)
        account.capability = capability_of(queue)
        account.real_capability = real_capability(
            self._session.total,
            guaranteed=self._guaranteed,
            guarantee=queue.guarantee,
            capability=account.capability if queue.names_capability else None,
        )
        return account

    def _divide(self) -> None:
        """Write what each queue deserves, and its share of that.

        That follows from what the queues request; all else that is divided by stays as it was at first.
        """
        requests = [(name, account.request.as_dict()) for name, account in self.items()]
        if not self or requests == self._divided:
            return
        self._divided = requests
        table = DivisionTable(self._session.total, list(self.values()))
        rounds = list(table.rounds())
        if self._session.trace is not None:
            table.tell(self._session.trace, rounds)
        for row, account in enumerate(self.values()):
            account.deserve(table.deserved(rounds[-1].deserved[row], account) if rounds else Resource())


class DivisionTable:
    """The accounts as arrays: silence gets its meaning here."""

    def __init__(self, total: Resource, accounts: Sequence[QueueAccount]) -> None:
        self.total = total
        self.accounts = accounts
        self.axis = ResourceAxis(
            amount
            for account in accounts
            for amount in (total, account.request, account.guarantee, account.real_capability)
        )
        self.request = self.axis.rows(account.request for account in accounts)
        self.guarantee = self.axis.rows(account.guarantee for account in accounts)
        self.ceiling = self.axis.rows(account.real_capability for account in accounts)
        for row, account in enumerate(accounts):
            self.ceiling[row, self._unnamed(account.real_capability)] = np.inf

    def _unnamed(self, amount: Resource) -> Mask:
        named = {*self.axis.names[:2], *(amount.scalars or ())}
        return np.array([name not in named for name in self.axis.names])

    def rounds(self) -> Iterable[Round]:
        """Return the rounds of the division."""
        of_total = self.total.scalars or {}
        return rounds_of_deserved(
            self.axis.row(self.total),
            weight=np.array([float(account.queue.weight) for account in self.accounts]),
            request=self.request,
            guarantee=self.guarantee,
            real_capability=self.ceiling,
            ignored=np.array([name == PODS for name in self.axis.names]),
            gains_scalars=np.array(
                [bool(of_total or account.guarantee.scalars) for account in self.accounts]
            ),
            loses_scalars=0.0 in of_total.values(),
        )

    def deserved(self, row: Matrix, account: QueueAccount) -> Resource:
        """Return a row as a vector that names the scalars of the total and of the queue's guarantee."""
        named = {*(self.total.scalars or {}), *(account.guarantee.scalars or {})}
        return self._resource(row, named)

    def _resource(self, row: Matrix, named: Iterable[str]) -> Resource:
        amounts = dict(zip(self.axis.names, row.tolist(), strict=True))
        scalars = {name: amounts[name] for name in sorted(named)}
        return Resource(amounts["cpu"], amounts[MEMORY], scalars or None)

    # explanations

    def tell(self, trace: Trace, rounds: Sequence[Round]) -> None:
        """Keep what each round gave to the queues that took part in it."""
        for row, account in enumerate(self.accounts):
            turns = [(number, turn) for number, turn in enumerate(rounds, start=1) if turn.unmet[row]]
            trace.derive(NAME, account.name, [self._step(number, turn, row) for number, turn in turns])

    def _step(self, number: int, turn: Round, row: int) -> dict[str, Any]:
        named = self.total.scalars or {}
        account = self.accounts[row]
        return {
            "round": number,
            "remaining": self._resource(turn.remaining, named),
            "weight": account.queue.weight,
            "weight_sum": turn.weight_sum,
            "offered": self._resource(turn.offered[row], named),
            "clipped_by": self._clipped_by(turn, row),
            "deserved": self.deserved(turn.deserved[row], account),
            "met": bool(turn.met[row]),
            "covered": bool(covers(turn.deserved[row : row + 1], self.request[row : row + 1])[0]),
        }

    def _clipped_by(self, turn: Round, row: int) -> dict[str, Any]:
        """Return, per resource, the last limit that changed what the round would have given."""
        clipped = {}
        columns = (
            turn.before[row] + turn.offered[row],
            self.ceiling[row],
            self.request[row],
            self.guarantee[row],
        )
        for name, wanted, ceiling, request, guarantee in zip(
            self.axis.names, *(column.tolist() for column in columns), strict=True
        ):
            if guarantee > min(wanted, ceiling, request):
                clipped[name] = "guarantee"
            elif request < min(wanted, ceiling):
                clipped[name] = "request"
            elif ceiling < wanted:
                clipped[name] = "realCapability"
        return clipped
