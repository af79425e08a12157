"""The account that plugin capacity keeps of a queue, with its position in the tree."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from scheduler_core.model.queue import ROOT, QueueInfo
from scheduler_core.model.queue_account import QueueAccount
from scheduler_core.resource import Resource
from scheduler_core.resource_limits import less_equal_partly

NAME = "capacity"


class CapacityAccount(QueueAccount):
    """A queue's account with its position in the tree.

    Attributes
    ----------
    ancestors : list of str
        Root first, the direct parent last; empty without hierarchy.
    parent : str
        The last ancestor, empty if there is none.
    children : list of str
        The queues that name it as their parent, ascending; empty without hierarchy.

    """

    __slots__ = ("ancestors", "children", "parent")

    def __init__(self, queue: QueueInfo) -> None:
        super().__init__(queue)
        self.ancestors: list[str] = []
        self.parent = ""
        self.children: list[str] = []

    def share_of_deserved(self) -> float:
        """Return the largest allocated / deserved; 1 when nothing but `pods` is deserved."""
        return 1.0 if self.deserved.is_empty() else super().share_of_deserved()

    def figures(self) -> dict[str, Any]:
        """Return the queue's position in the tree, and its current share and amounts."""
        place = {"ancestors": self.ancestors, "children": self.children}
        return {
            "name": self.name,
            "share": self.share,
            **{name: queues for name, queues in place.items() if queues},
            **super().figures(),
        }

    def terms(self) -> dict[str, Any]:
        """Return the amounts that the queue states, its limits, and the resulting deserved amount."""
        return {
            "guarantee": self.guarantee,
            "capability": {} if self.capability.is_nothing() else self.capability,
            "realCapability": self.real_capability,
            "stated": self.queue.deserved,
            "clipped_by": self._clipped_by(),
            "deserved": self.deserved,
            "share": self.share,
        }

    def _clipped_by(self) -> dict[str, str]:
        """Return, by resource, the limit that changed the stated deserved amount."""
        clipped = {}
        for name, amount in self.deserved.items():
            stated = self.queue.deserved.get(name)
            if amount != stated:
                clipped[name] = "realCapability" if amount < stated else "guarantee"
        return clipped

    def ancestor(self, level: int) -> str | None:
        """Return the ancestor `level` levels up, where 1 is the parent; None for root and beyond."""
        if level > len(self.ancestors):
            return None
        name = self.ancestors[-level]
        return None if name == ROOT else name

    def deserves_part_of(self, request: Resource) -> bool:
        """Return whether a request fits within deserved in at least one dimension."""
        return less_equal_partly(self.allocated.clone().add(request), self.deserved, request)


@dataclass
class Queues:
    """The queues of one session, as capacity accounts for them.

    Attributes
    ----------
    accounts : dict
        By name, ascending.
    obstacle : str
        Why the tree is unusable, in which case no job is enqueued and no task placed; empty if it is usable.
    hierarchical : bool
        Whether the queues form a tree.
    reasons : dict
        The last reasons given for candidates, with the remaining amount of their queue at that time.

    """

    accounts: dict[str, CapacityAccount] = field(default_factory=dict)
    _chains: dict[str, list[CapacityAccount]] = field(default_factory=dict)
    obstacle: str = ""
    hierarchical: bool = False
    reasons: dict[tuple[str, str], tuple[Resource, tuple[str, dict[str, object]]]] = field(
        default_factory=dict
    )

    def chain(self, name: str) -> list[CapacityAccount]:
        """Return a queue and its ancestors, from the direct parent up to root; the tree is complete."""
        chain = self._chains.get(name)
        if chain is None:
            chain = self._chains[name] = chain_in(self.accounts, name)
        return chain

    def charged_accounts(self, name: str) -> Sequence[CapacityAccount]:
        """Return the accounts to which a queue's tasks are charged; none if the queue was not linked."""
        return self.chain(name) if name in self.accounts else ()

    def renew(self, names: Iterable[str]) -> bool:
        """Update the accounts of some queues; return False if all must be rebuilt."""
        return False

    def rebuild(self) -> bool:
        """Rebuild all accounts after Queue objects changed; return False if the session must be reopened.

        The queues have the same names as before. The tree must have been usable and still be usable.
        """
        return False

    def is_leaf(self, name: str) -> bool:
        """Return whether a queue has no children, so that jobs may run in it."""
        return not self.accounts[name].children


def chain_in(accounts: Mapping[str, CapacityAccount], name: str) -> list[CapacityAccount]:
    """Return a queue and its ancestors, from the direct parent up to root."""
    account = accounts[name]
    return [account, *(accounts[ancestor] for ancestor in reversed(account.ancestors))]
