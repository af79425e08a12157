"""The queue orders of capacity: the order of turns, and the order of losing pods.

Source: volcano ``pkg/scheduler/plugins/capacity/capacity.go`` (QueueOrder, VictimQueueOrder) at v1.15.1.
"""

from __future__ import annotations

from collections.abc import Collection

from scheduler_core.model.queue import QueueInfo
from scheduler_core.plugins.capacity.account import CapacityAccount, Queues


class QueueOrder:
    """The orders of one session's queues."""

    def __init__(self, queues: Queues) -> None:
        self.queues = queues
        self._deserves_nothing: dict[str, bool] = {}
        self._common: dict[tuple[str, str], int] = {}
        self._above: dict[tuple[str, str], int] = {}

    def _compare(self, left: CapacityAccount, right: CapacityAccount) -> int:
        """Return below 0 if `left` has the smaller share; on a tie one that deserves anything is first."""
        mine, theirs = left.share, right.share
        if mine != theirs:
            return -1 if mine < theirs else 1
        return self.deserves_nothing(left) - self.deserves_nothing(right)

    def deserves_nothing(self, account: CapacityAccount) -> bool:
        """Return whether a queue deserves nothing, computed once."""
        known = self._deserves_nothing.get(account.name)
        if known is None:
            known = self._deserves_nothing[account.name] = account.deserved.is_empty()
        return known

    def renew(self) -> None:
        """Drop comparisons by shares that may have changed."""
        self._above.clear()

    def forget_queues(self) -> None:
        """Drop values derived from Queue objects, which may have changed."""
        self._deserves_nothing.clear()
        self._common.clear()

    def flat(self, left: QueueInfo, right: QueueInfo) -> float:
        """Return below 0 if `left` has the higher priority; with equal priorities, compare shares."""
        if left.priority != right.priority:
            return right.priority - left.priority
        return self._compare(self.queues.accounts[left.name], self.queues.accounts[right.name])

    def flat_key(self, queue: QueueInfo) -> tuple[int, float, bool]:
        """Return `flat` as a sort key."""
        account = self.queues.accounts[queue.name]
        return -queue.priority, account.share, self.deserves_nothing(account)

    def hierarchical(self, left: QueueInfo, right: QueueInfo) -> float:
        """Return below 0 if `left` has the higher priority, else compare shares where the paths diverge.

        Leaves come before queues with children. Ancestors keep the shares they had when the session opened.
        """
        if left.priority != right.priority:
            return right.priority - left.priority
        names = left.name, right.name
        known = self._above.get(names)
        if known is not None:
            return known
        mine, theirs = self.queues.accounts[left.name], self.queues.accounts[right.name]
        if bool(mine.children) != bool(theirs.children):
            return 1 if mine.children else -1
        if mine.children or mine.parent == theirs.parent:
            return self._compare(mine, theirs)
        level = self._common_level(mine, theirs) + 1
        compared = self._compare(self._at(mine, level), self._at(theirs, level))
        if level < min(len(mine.ancestors), len(theirs.ancestors)):
            self._above[names] = compared
        return compared

    def path_key(self, queue: QueueInfo) -> tuple[float, ...]:
        """Return `hierarchical` as a sort key, valid if `has_path_key`: the shares on the path from root."""
        key: list[float] = [-queue.priority]
        for account in reversed(self.queues.chain(queue.name)):
            key += account.share, self.deserves_nothing(account)
        return tuple(key)

    def has_path_key(self, names: Collection[str]) -> bool:
        """Return whether `path_key` orders these queues as `hierarchical` does.

        Sound if all are at the same depth, so that paths diverge at queues of one kind, and no two siblings
        above them compare equal: otherwise leaves of different siblings would be compared by name, and leaves
        of the same one by share, which makes the order intransitive. Ancestors keep the shares they had when
        the session opened.
        """
        chains = [self.queues.chain(name) for name in names]
        if len({len(chain) for chain in chains}) > 1:
            return False
        above = {account.name: account for chain in chains for account in chain[1:]}
        keys = {(one.parent, one.share, self.deserves_nothing(one)) for one in above.values()}
        return len(keys) == len(above)

    def _at(self, account: CapacityAccount, level: int) -> CapacityAccount:
        return self.queues.accounts[account.ancestors[level]] if level < len(account.ancestors) else account

    def victims(self, queue: QueueInfo, preemptor: QueueInfo) -> int:
        """Return a sort key that is smaller the closer a queue is to the preemptor's queue in the tree."""
        accounts = self.queues.accounts
        return -self._common_level(accounts[queue.name], accounts[preemptor.name])

    def _common_level(self, left: CapacityAccount, right: CapacityAccount) -> int:
        """Return `common_level`, computed once for all children of the same two parents."""
        parents = left.parent, right.parent
        level = self._common.get(parents)
        if level is None:
            level = self._common[parents] = common_level(left, right)
        return level


def common_level(left: CapacityAccount, right: CapacityAccount) -> int:
    """Return the position of the last common ancestor; 0 also if there is none."""
    common = 0
    for position, (mine, theirs) in enumerate(zip(left.ancestors, right.ancestors, strict=False)):
        if mine != theirs:
            break
        common = position
    return common
