"""The accounts of proportion, and the division of the cluster among them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from operator import is_
from typing import Any

import numpy as np

from scheduler_core.framework.observer import Observer
from scheduler_core.framework.session import Session
from scheduler_core.model.axis import ResourceAxis
from scheduler_core.model.queue_account import QueueAccount, renew_accounts
from scheduler_core.plugins.proportion.deserved import (
    Round,
    Turn,
    covers,
    final_deserved,
    rounds_of_deserved,
)
from scheduler_core.resource import MEMORY, PODS, Resource, total_of

NAME = "proportion"
# Up to this number of queues, the cluster is divided queue by queue instead of with arrays.
FEW_QUEUES = 32


class Accounts(dict[str, QueueAccount]):
    """The accounts of the queues that have jobs, by name; queues without jobs do not participate.

    The real capability of each excludes the guarantees of all others, including those without jobs.
    """

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self._every: dict[str, QueueAccount] = {}
        self._table: DivisionTable | None = None
        self._rows: dict[str, list[float]] = {}
        self.rebuild()
        if session.observer.listens:
            for job in session.jobs.values():
                self[job.queue].name_reservation(job, session.release)

    def rebuild(self) -> None:
        """Rebuild the accounts from the session's queues, and divide the cluster among them."""
        queues = self._session.queues
        self._guaranteed = total_of(queue.guarantee for queue in queues.values())
        self._every.clear()
        self._rows.clear()
        self._table = None
        self.clear()
        self.renew(queues)

    def renew(self, names: Collection[str]) -> None:
        """Update the accounts of some queues, and divide again if any request changed.

        Deserved amounts depend on requests; the other inputs of the division are fixed. An account keeps the
        same object for an unchanged request.
        """
        session, requests = self._session, [self._request_of(name) for name in names]
        renew_accounts(self, names, session.snapshot.sums, session.release, self._account)
        if self and not all(map(is_, requests, map(self._request_of, names))):
            self._divide()

    def _request_of(self, name: str) -> Resource | None:
        """Return the request of the jobs of a queue, None if it has no jobs."""
        account = self.get(name)
        return None if account is None else account.request

    def _account(self, name: str) -> QueueAccount:
        """Return the account of a queue, created once: its limits depend on the queues alone."""
        account = self._every.get(name)
        if account is None:
            account = self._every[name] = QueueAccount(self._session.queues[name])
            account.limit(self._session.total, self._guaranteed)
        return account

    def _divide(self) -> None:
        """Set each queue's deserved amount, and its share."""
        table = self._table_of(list(self.values()))
        deserved = table.divided(self._session.observer) or [[]] * len(self)
        for row, account in zip(deserved, self.values(), strict=True):
            if self._rows.get(account.name) != row:
                self._rows[account.name] = row
                account.set_deserved(table.deserved(row, account) if row else Resource())

    def _table_of(self, accounts: Sequence[QueueAccount]) -> DivisionTable:
        """Return the table of the accounts: the last one, updated, if only requests differ."""
        table = self._table
        if table is None or not table.update_requests(accounts):
            table = self._table = DivisionTable(self._session.total, accounts)
        return table


class DivisionTable:
    """The accounts as rows of amounts, in which absent resources are 0 or unlimited as they mean."""

    def __init__(self, total: Resource, accounts: Sequence[QueueAccount]) -> None:
        self.total = total
        self.accounts = accounts
        self.axis = ResourceAxis(
            amount
            for account in accounts
            for amount in (total, account.request, account.guarantee, account.real_capability)
        )
        self._requested = [account.request for account in accounts]
        self._request = [self.axis.amounts(amount) for amount in self._requested]
        self._guarantee = [self.axis.amounts(account.guarantee) for account in accounts]
        self._ceiling = [self._ceiling_of(account.real_capability) for account in accounts]
        self._weight = [float(account.queue.weight) for account in accounts]
        self._ignored = [name == PODS for name in self.axis.names]
        of_total = total.scalars or {}
        self._gains_scalars = [bool(of_total or account.guarantee.scalars) for account in accounts]
        self._loses_scalars = 0.0 in of_total.values()
        self._total = self.axis.amounts(total)
        self._first_turns: dict[int, Turn] = {}

    def update_requests(self, accounts: Sequence[QueueAccount]) -> bool:
        """Update the requests; return False for other accounts, or requested resources not on the axis.

        Everything else in an account is fixed as long as its queue is unchanged.
        """
        scalars = self.axis.index.keys()
        if len(accounts) != len(self.accounts) or not all(map(is_, accounts, self.accounts)):
            return False
        if not all(
            scalars >= account.request.scalars.keys() for account in accounts if account.request.scalars
        ):
            return False
        for row, account in enumerate(accounts):
            if account.request is not self._requested[row]:
                self._requested[row] = account.request
                self._request[row] = self.axis.amounts(account.request)
                self._first_turns.pop(row, None)
        return True

    def _ceiling_of(self, amount: Resource) -> list[float]:
        named = {*self.axis.names[:2], *(amount.scalars or ())}
        amounts = zip(self.axis.names, self.axis.amounts(amount), strict=True)
        return [most if name in named else np.inf for name, most in amounts]

    def divided(self, observer: Observer) -> list[list[float]]:
        """Return the deserved amounts, one row per account; empty if all weights are 0."""
        if not observer.listens and len(self.accounts) <= FEW_QUEUES:
            return final_deserved(
                self._total,
                weight=self._weight,
                request=self._request,
                guarantee=self._guarantee,
                real_capability=self._ceiling,
                ignored=self._ignored,
                gains_scalars=self._gains_scalars,
                loses_scalars=self._loses_scalars,
                first_turns=self._first_turns,
            )
        rounds = self._rounds()
        if observer.listens:
            self._report(observer, rounds)
        deserved: list[list[float]] = rounds[-1].deserved.tolist() if rounds else []
        return deserved

    def _rounds(self) -> list[Round]:
        """Return the rounds of the division."""
        return list(
            rounds_of_deserved(
                self.axis.row(self.total),
                weight=np.array(self._weight),
                request=np.array(self._request),
                guarantee=np.array(self._guarantee),
                real_capability=np.array(self._ceiling),
                ignored=np.array(self._ignored),
                gains_scalars=np.array(self._gains_scalars),
                loses_scalars=self._loses_scalars,
            )
        )

    def deserved(self, row: Sequence[float], account: QueueAccount) -> Resource:
        """Return a row as a vector that names the scalars of the total and of the queue's guarantee."""
        named = {*(self.total.scalars or {}), *(account.guarantee.scalars or {})}
        return self._resource(row, named)

    def _resource(self, row: Sequence[float], named: Iterable[str]) -> Resource:
        amounts = dict(zip(self.axis.names, row, strict=True))
        scalars = {name: amounts[name] for name in sorted(named)}
        return Resource(amounts["cpu"], amounts[MEMORY], scalars or None)

    # explanations

    def _report(self, observer: Observer, rounds: Sequence[Round]) -> None:
        """Report what each round gave to the participating queues."""
        for row, account in enumerate(self.accounts):
            turns = [(number, turn) for number, turn in enumerate(rounds, start=1) if turn.unmet[row]]
            observer.derived(NAME, account.name, [self._step(number, turn, row) for number, turn in turns])

    def _step(self, number: int, turn: Round, row: int) -> dict[str, Any]:
        named = self.total.scalars or {}
        account = self.accounts[row]
        return {
            "round": number,
            "remaining": self._resource(turn.remaining.tolist(), named),
            "weight": account.queue.weight,
            "weight_sum": turn.weight_sum,
            "offered": self._resource(turn.offered[row].tolist(), named),
            "clipped_by": self._clipped_by(turn, row),
            "deserved": self.deserved(turn.deserved[row].tolist(), account),
            "met": bool(turn.met[row]),
            "covered": bool(covers(turn.deserved[row : row + 1], np.array(self._request[row : row + 1]))[0]),
        }

    def _clipped_by(self, turn: Round, row: int) -> dict[str, Any]:
        """Return, per resource, the last limit that changed what the round would have given."""
        clipped = {}
        columns = (
            (turn.before[row] + turn.offered[row]).tolist(),
            self._ceiling[row],
            self._request[row],
            self._guarantee[row],
        )
        for name, wanted, ceiling, request, guarantee in zip(self.axis.names, *columns, strict=True):
            if guarantee > min(wanted, ceiling, request):
                clipped[name] = "guarantee"
            elif request < min(wanted, ceiling):
                clipped[name] = "request"
            elif ceiling < wanted:
                clipped[name] = "realCapability"
        return clipped
