"""Which queue is served first, and which loses first?

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
        """Return below 0 when `left` has the smaller share; of equals who deserves anything comes first."""
        mine, theirs = left.share, right.share
        if mine != theirs:
            return -1 if mine < theirs else 1
        return self.deserves_nothing(left) - self.deserves_nothing(right)

    def deserves_nothing(self, account: CapacityAccount) -> bool:
        """Return whether a queue deserves nothing, worked out once."""
        known = self._deserves_nothing.get(account.name)
        if known is None:
            known = self._deserves_nothing[account.name] = account.deserved.is_empty()
        return known

    def renew(self) -> None:
        """Forget what was compared by shares that may have moved."""
        self._above.clear()

    def forget_queues(self) -> None:
        """Forget what was worked out of queues that may be others."""
        self._deserves_nothing.clear()
        self._common.clear()

    def flat(self, left: QueueInfo, right: QueueInfo) -> float:
        """Return below 0 when `left` has the higher priority, else by their shares."""
        if left.priority != right.priority:
            return right.priority - left.priority
        return self._compare(self.queues.accounts[left.name], self.queues.accounts[right.name])

    def flat_key(self, queue: QueueInfo) -> tuple[int, float, bool]:
        """Return the same order as a key."""
        account = self.queues.accounts[queue.name]
        return -queue.priority, account.share, self.deserves_nothing(account)

    def hierarchical(self, left: QueueInfo, right: QueueInfo) -> float:
        """Return below 0 when `left` has the higher priority, else by the shares where the paths part.

        Leaves come before queues with children. The shares of those above were taken when the session opened.
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
        """Return `hierarchical` as a key, where `has_path_key` says so: the shares on the way from root."""
        key: list[float] = [-queue.priority]
        for account in reversed(self.queues.chain(queue.name)):
            key += account.share, self.deserves_nothing(account)
        return tuple(key)

    def has_path_key(self, names: Collection[str]) -> bool:
        """Return whether a key puts these queues in their order.

        Sound where all of them are equally deep, so that two paths part at queues of one kind, and no two
        queues above them stand alike beside each other: else their leaves would be compared by name, and
        two leaves of one of them by share, which makes the order intransitive. The shares of those above
        stay what they were when the session opened.
        """
        chains = [self.queues.chain(name) for name in names]
        if len({len(chain) for chain in chains}) > 1:
            return False
        above = {account.name: account for chain in chains for account in chain[1:]}
        standing = {(one.parent, one.share, self.deserves_nothing(one)) for one in above.values()}
        return len(standing) == len(above)

    def _at(self, account: CapacityAccount, level: int) -> CapacityAccount:
        return self.queues.accounts[account.ancestors[level]] if level < len(account.ancestors) else account

    def victims(self, queue: QueueInfo, preemptor: QueueInfo) -> int:
        """Return the smaller a key, the nearer a relative of the preemptor's queue a queue is."""
        accounts = self.queues.accounts
        return -self._common_level(accounts[queue.name], accounts[preemptor.name])

    def _common_level(self, left: CapacityAccount, right: CapacityAccount) -> int:
        """Return `common_level`, worked out once for all children of the same two parents."""
        parents = left.parent, right.parent
        level = self._common.get(parents)
        if level is None:
            level = self._common[parents] = common_level(left, right)
        return level


def common_level(left: CapacityAccount, right: CapacityAccount) -> int:
    """Return the position of the last ancestor that both have in common, 0 also when there is none."""
    common = 0
    for position, (mine, theirs) in enumerate(zip(left.ancestors, right.ancestors, strict=False)):
        if mine != theirs:
            break
        common = position
    return common
