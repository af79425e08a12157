"""Plugin capacity's records of queues, and when a queue exceeds them: ``spec/capacity.md`` 2 and 6."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.reference.accounts import Account
from tests.reference.cluster import Queue
from tests.reference.resources import EPSILON, Vector, added, is_empty, names_of, vector

if TYPE_CHECKING:
    from tests.reference.session import Session


class Record(Account):
    """Plugin capacity's attributes of a queue."""

    def __init__(self, session: Session, queue: Queue, guaranteed: Vector) -> None:
        super().__init__(session, queue, guaranteed)
        self.capability = vector(queue.capability)
        self.guarantee = queue.guarantee
        self.deserved = vector(queue.deserved)
        self.ancestors: list[str] = []
        self.children: list[str] = []
        self.measured = 0.0

    @property
    def share(self) -> float:
        return self.measured

    def measure(self) -> None:
        self.measured = 1.0 if is_empty(self.deserved) else super().share

    def ancestor(self, level: int) -> str | None:
        name = self.ancestors[-level] if level <= len(self.ancestors) else None
        return None if name == "root" else name


def common_level(left: Record, right: Record) -> int:
    level = 0
    for number, (mine, theirs) in enumerate(zip(left.ancestors, right.ancestors, strict=False)):
        if mine != theirs:
            break
        level = number
    return level


def deserves_a_part(record: Record, request: Vector) -> bool:
    future, deserved = added(record.allocated, request), record.deserved
    for name, amount in request.items():
        mine, most = future.get(name, 0.0), deserved.get(name, 0.0)
        counts = amount > 0 and name != "pods" and not (mine < EPSILON and most < EPSILON)
        if counts and (mine < most or abs(mine - most) < EPSILON):
            return True
    return False


def shares_a_name(left: Vector, right: Vector) -> bool:
    return bool({*names_of(left)} & {*names_of(right)})


def has_too_much(record: Record, held: Vector, request: Vector) -> bool:
    deserved = record.deserved
    if not shares_a_name(request, deserved):
        return True
    relevant = [
        name
        for name, amount in request.items()
        if amount > 0
        and name != "pods"
        and (deserved[name] >= EPSILON if name in ("cpu", "memory") else name in deserved)
    ]
    return any(held.get(name, 0.0) > deserved[name] for name in relevant)
