"""Who takes part in the division, and with which amounts?"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from scheduler_core.framework.session import Session
from scheduler_core.model.axis import ResourceAxis
from scheduler_core.model.queue_account import QueueAccount, capability_of, real_capability
from scheduler_core.plugins.proportion.deserved import Mask, Matrix, Round, covers, rounds_of_deserved
from scheduler_core.resource import MEMORY, PODS, Resource, total_of
from scheduler_core.trace import Trace

NAME = "proportion"


def open_accounts(session: Session) -> dict[str, QueueAccount]:
    """Return the accounts of the queues that have jobs, by name; the others take no part.

    The guarantees of all queues, also of those without jobs, are set aside from what each one can reach.
    """
    guaranteed = total_of(queue.guarantee for queue in session.queues.values())
    used = {job.queue for job in session.jobs.values()}
    accounts = {}
    for name, queue in session.queues.items():
        if name in used:
            account = accounts[name] = QueueAccount(queue)
            account.capability = capability_of(queue)
            account.real_capability = real_capability(
                session.total,
                guaranteed=guaranteed,
                guarantee=queue.guarantee,
                capability=account.capability if queue.names_capability else None,
            )
    for job in session.jobs.values():
        accounts[job.queue].count(job, session.release)
    return accounts


def divide(session: Session, accounts: dict[str, QueueAccount]) -> None:
    """Write what each queue deserves, and its share of that."""
    if not accounts:
        return
    table = DivisionTable(session.total, list(accounts.values()))
    rounds = list(table.rounds())
    if session.trace is not None:
        table.tell(session.trace, rounds)
    for row, account in enumerate(accounts.values()) if rounds else ():
        account.deserved = table.deserved(rounds[-1].deserved[row], account)
        account.measure()


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
