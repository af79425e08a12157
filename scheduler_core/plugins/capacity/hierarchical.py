"""The accounts of capacity for a hierarchy of queues.

Source: volcano ``pkg/scheduler/plugins/capacity/capacity.go`` (buildHierarchicalQueueAttrs) at v1.15.1.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from scheduler_core.framework.observer import Observer
from scheduler_core.framework.session import Session
from scheduler_core.model.queue import ROOT, QueueInfo
from scheduler_core.model.queue_limits import real_capability
from scheduler_core.plugins.capacity.account import NAME, CapacityAccount, Queues
from scheduler_core.resource import UNLIMITED, UNLIMITED_SCALAR, Resource, maximum, total_of


class QueueTree(Queues):
    """The accounts of all queues, linked into a tree.

    If a queue cannot be linked, or a job is in a queue with children, building stops there and `obstacle`
    says why; the accounts created so far remain.
    """

    def __init__(self, session: Session) -> None:
        super().__init__(hierarchical=True)
        self._session = session
        self.rebuild()

    def rebuild(self) -> bool:
        """Rebuild the accounts from the session's queues; return whether the tree was and is usable."""
        session, obstacle_before = self._session, self.obstacle
        self.accounts.clear()
        self._chains.clear()
        self.obstacle = _link(session, self) or self._count_jobs() or _check_root(self)
        in_order = sorted(self.accounts.items())
        self.accounts.clear()
        self.accounts.update(in_order)
        for account in self.accounts.values():
            account.children.sort()
        if not self.obstacle:
            Division(session, self).divide()
            ancestors = {name: account.ancestors for name, account in self.accounts.items()}
            session.snapshot.sums.follow_ancestors(ancestors)
        return not (obstacle_before or self.obstacle)

    def _count_jobs(self) -> str:
        """Add every job to its queue and all ancestors; return the obstacle, empty if there is none."""
        session, obstacle = self._session, ""
        jobs, sums = session.jobs, session.snapshot.sums
        if not all(map(self.is_leaf, sums.queues())):
            wrong = next(job for job in jobs.values() if not self.is_leaf(job.queue))
            obstacle = f"job {wrong.key} is in queue {wrong.queue}, which has children"
            jobs = {key: job for key, job in jobs.items() if key < wrong.key}
            sums = sums.of(jobs)
        for name in sums.queues():
            self.accounts[name].set_amounts(sums[name], session.release)
        for job in jobs.values() if session.observer.listens else ():
            self.accounts[job.queue].name_reservation(job, session.release)
        for name in sums.queues():
            for ancestor in self.chain(name)[1:]:
                ancestor.include(self.accounts[name])
        return obstacle

    def renew(self, names: Iterable[str]) -> bool:
        """Update the accounts: those of leaves from their jobs, those of ancestors from their leaves.

        Deserved amounts depend only on the Queue objects, which are unchanged. If all amounts add up exactly
        in any order, the sums of ancestors are updated per job like those of leaves.
        """
        sums = self._session.snapshot.sums
        if self.obstacle or not all(map(self.is_leaf, sums.queues())):
            return False
        exact = sums.are_exact()
        moved = {account.name for name in names for account in self.chain(name)}
        for name in moved:
            account = self.accounts[name]
            adds_up = sums.below if account.children and exact else sums.get
            account.set_amounts(adds_up(name), self._session.release)
        if not exact:
            for leaf in sums.queues():
                for ancestor in self.chain(leaf)[1:]:
                    if ancestor.name in moved:
                        ancestor.include(self.accounts[leaf])
        for name in moved:
            self.accounts[name].update_share()
        return True


# links


def _link(session: Session, queues: Queues) -> str:
    """Create an account for every queue and link it to its ancestors; return the obstacle."""
    for name, queue in session.queues.items():
        if name not in queues.accounts:
            queues.accounts[name] = _account(queue)
            obstacle = _link_ancestors(session, queues, queue)
            if obstacle:
                return obstacle
    return ""


def _account(queue: QueueInfo) -> CapacityAccount:
    account = CapacityAccount(queue)
    account.deserved = queue.deserved
    account.capability = queue.capability.clone()
    return account


def _link_ancestors(session: Session, queues: Queues, queue: QueueInfo) -> str:
    """Link a queue, and its ancestors without an account, to their parents; return the obstacle.

    Parents that form a cycle are linked to each other but not to root, so that nothing is divided among them.
    """
    path = [queue]
    while path[-1].name != ROOT:
        name = path[-1].parent or ROOT
        if name not in session.queues:
            return f"queue {path[-1].name} names parent {name}, which does not exist"
        path.append(session.queues[name])
        if name in queues.accounts:
            break
        queues.accounts[name] = _account(session.queues[name])
    for parent, child in zip(reversed(path[1:]), reversed(path[:-1]), strict=True):
        above = queues.accounts[parent.name]
        above.children.append(child.name)
        below = queues.accounts[child.name]
        below.ancestors, below.parent = [*above.ancestors, parent.name], parent.name
    return ""


def _check_root(queues: Queues) -> str:
    return "" if ROOT in queues.accounts else f"no such queue: {ROOT}"


# division


class Division:
    """Divides capability and guarantees down the tree."""

    def __init__(self, session: Session, queues: Queues) -> None:
        self.session = session
        self.queues = queues

    def divide(self) -> None:
        """Set deserved, capability, real capability and share of every queue."""
        root = self.queues.accounts[ROOT]
        if root.capability.is_empty():
            root.capability = unlimited(self.session.total)
        root.real_capability = root.capability
        above = [root]
        while above:
            above += self._divide_among_children(above.pop())
        for account in self.queues.accounts.values():
            account.update_share()
        if self.session.observer.listens:
            self._report(self.session.observer)

    def _divide_among_children(self, parent: CapacityAccount) -> list[CapacityAccount]:
        """Set the limits of a queue's children and return them."""
        children = [self.queues.accounts[name] for name in parent.children]
        for child in children:
            child.deserved = maximum(child.deserved, child.guarantee)
            inherit(child.capability, parent.capability)
        guaranteed = total_of(child.guarantee for child in children)
        if parent.name == ROOT:
            parent.guarantee = guaranteed
            parent.deserved = total_of(child.deserved for child in children)
        for child in children:
            child.real_capability = real_capability(
                parent.real_capability,
                guaranteed=guaranteed,
                guarantee=child.guarantee,
                capability=child.capability,
            )
        return children

    def _report(self, observer: Observer) -> None:
        """Report, for every queue, the amounts that each level divided among its children, from root down."""
        guaranteed = {
            parent.name: total_of(self.queues.accounts[child].guarantee for child in parent.children)
            for parent in self.queues.accounts.values()
        }
        for name in self.queues.accounts:
            path = self.queues.chain(name)[::-1]
            levels = enumerate(zip([None, *path], path, strict=False))
            observer.derived(
                NAME,
                name,
                [
                    {"level": level, "queue": queue.name, **queue.terms(), **_divided_by(above, guaranteed)}
                    for level, (above, queue) in levels
                ],
            )


def _divided_by(parent: CapacityAccount | None, guaranteed: Mapping[str, Resource]) -> dict[str, Any]:
    """Return the amounts that a queue's parent divided; root, the sum of its children, has no limits."""
    if parent is None:
        return {"clipped_by": {}}
    return {"available": parent.real_capability, "guaranteed": guaranteed[parent.name]}


def unlimited(total: Resource) -> Resource:
    """Return the capability of a root that states none: unlimited for every resource of the cluster."""
    return Resource(UNLIMITED, UNLIMITED, dict.fromkeys(total.scalars or (), UNLIMITED_SCALAR) or None)


def inherit(capability: Resource, parent: Resource) -> None:
    """Fill in resources that a child's capability lacks from its parent's."""
    if capability.cpu <= 0:
        capability.cpu = parent.cpu
    if capability.memory <= 0:
        capability.memory = parent.memory
    for name, amount in (parent.scalars or {}).items():
        if name not in (capability.scalars or {}):
            capability.set(name, amount)
