"""The votes of capacity on victims of reclaim.

Source: volcano ``pkg/scheduler/plugins/capacity/capacity.go`` (Reclaimable, UnifiedEvictable) at v1.15.1.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from scheduler_core.decision import Why
from scheduler_core.errors import SchedulerPanic
from scheduler_core.framework.session import Session
from scheduler_core.model.job import TaskInfo
from scheduler_core.model.pod import PodShape
from scheduler_core.plugins.capacity.account import CapacityAccount, Queues
from scheduler_core.release import Rule
from scheduler_core.resource import PODS, Absent, Resource
from scheduler_core.resource_limits import excess_over, intersection, requested_dimensions
from scheduler_core.victims.order import victims_queue


class ReclaimableTasks:
    """Decides which tasks the queues of one session can lose to each other.

    Parameters
    ----------
    levels : int
        How many ancestors are considered (argument `ancestorReclaimLevel`).

    """

    def __init__(self, session: Session, queues: Queues, levels: int) -> None:
        self.session = session
        self.queues = queues
        self.levels = levels
        self._relevance = Relevance()
        self._reclaimable: dict[tuple[str, Sequence[PodShape], frozenset[str]], list[bool]] = {}
        self._largest: dict[Sequence[PodShape], Resource] = {}

    def forget_queues(self) -> None:
        """Drop values derived from Queue objects, which may have changed."""
        self._relevance.forget_queues()
        self._reclaimable.clear()

    def reclaimable(
        self, reclaimer: TaskInfo, candidates: Sequence[TaskInfo], why: Why | None
    ) -> list[TaskInfo]:
        """Return the candidates that their queues and near ancestors can lose, in victim order."""
        account = self._account_of(reclaimer)
        if self.queues.obstacle or account is None:
            return []
        ordered = self._in_order(candidates, reclaimer)
        vote = ReclaimVote(self.queues, self.levels, self._relevance, reclaimer, account)
        accepted = []
        for task in ordered:
            theirs = self._account_of(task)
            if theirs is None:
                continue
            refusal = vote.refusal(task, theirs)
            if not refusal:
                accepted.append(task)
            if why is not None:
                why[task.uid] = vote.explain(refusal, theirs)
        return accepted

    def _in_order(self, candidates: Sequence[TaskInfo], reclaimer: TaskInfo) -> Iterable[TaskInfo]:
        """Return the candidates in victim order."""
        if not self.session.release.follows(Rule.CAPACITY_VICTIM_ORDER):
            return candidates
        waiting = victims_queue(self.session, candidates, reclaimer)
        return [waiting.pop() for _ in candidates]

    def reclaimable_shapes(self, queue: str, shapes: tuple[PodShape, ...]) -> list[bool]:
        """Return which shapes of tasks a queue could lose as its first victim.

        A pod larger than the queue's allocated amount counts as one that it could lose; the vote on it
        crashes.
        """
        account = self.queues.accounts.get(queue)
        if self.queues.obstacle or account is None:
            return [False] * len(shapes)
        excess = excess_over(account.allocated, account.deserved)
        if not (account.guarantee.is_nothing() and self._holds_largest_of(account, shapes)):
            return [self._could_lose(account, shape, excess) for shape in shapes]
        key = queue, shapes, excess
        if key not in self._reclaimable:
            self._reclaimable[key] = [
                self._relevance.exceeds_deserved(account, shape, excess) for shape in shapes
            ]
        return self._reclaimable[key]

    def _holds_largest_of(self, account: CapacityAccount, shapes: tuple[PodShape, ...]) -> bool:
        """Return whether a queue has at least as much allocated as any pod of these shapes requests."""
        largest = self._largest.get(shapes)
        if largest is None:
            largest = self._largest[shapes] = Resource()
            for shape in shapes:
                largest.set_max_resource(shape.request)
        return largest.less_equal(account.allocated, Absent.ZERO)

    def _could_lose(self, account: CapacityAccount, shape: PodShape, excess: frozenset[str]) -> bool:
        allocated, request = account.allocated, shape.request
        if not request.less_equal(allocated, Absent.ZERO):
            return True
        return self._relevance.exceeds_deserved(account, shape, excess) and keeps_guarantee(
            account, allocated, request
        )

    def evictable(
        self, preemptor: TaskInfo, candidates: Sequence[TaskInfo], action: str, why: Why | None
    ) -> list[TaskInfo]:
        """Return all candidates for gangpreempt, and those that their queues can lose for gangreclaim."""
        if action != "gangreclaim":
            return list(candidates)
        if self.queues.obstacle:
            return []
        vote = ReclaimVote(self.queues, 0, self._relevance, preemptor, None)
        accepted = []
        for task in candidates:
            if task.job is None:
                raise SchedulerPanic(f"pod {task.key} is offered for gangreclaim, but belongs to no job")
            theirs = self.queues.accounts.get(task.job.queue)
            if theirs is None:
                continue
            refusal = vote.refusal_of_own_queue(task, theirs)
            if not refusal:
                vote.deduct(task, [theirs])
                accepted.append(task)
            if why is not None:
                why[task.uid] = vote.explain(refusal, theirs)
        return accepted

    def _account_of(self, task: TaskInfo) -> CapacityAccount | None:
        return self.queues.accounts.get(task.job.queue) if task.job is not None else None


def keeps_guarantee(account: CapacityAccount, allocated: Resource, request: Resource) -> bool:
    """Return whether a queue keeps its guarantee without a pod.

    Raises
    ------
    SchedulerPanic
        If the queue has less allocated than the pod requests.

    """
    if account.guarantee.is_nothing() and request.less_equal(allocated, Absent.ZERO):
        return True
    return account.guarantee.less_equal(allocated.clone().sub(request), Absent.ZERO)


class Relevance:
    """The resources of a pod that matter to its queue or to the reclaimer, cached by shape."""

    def __init__(self) -> None:
        self._shared: dict[tuple[PodShape, PodShape], bool] = {}
        # By queue and shape: whether the queue deserves any of the request, and the requested dimensions.
        self._of_queue: dict[tuple[str, PodShape], tuple[bool, list[str]]] = {}

    def forget_queues(self) -> None:
        """Drop values derived from Queue objects, which may have changed."""
        self._of_queue.clear()

    def helps(self, shape: PodShape, reclaimer: PodShape) -> bool:
        """Return whether a shape and the reclaimer request a common resource other than `pods`."""
        known = self._shared.get((shape, reclaimer))
        if known is None:
            shared = intersection(shape.request, reclaimer.request)
            known = self._shared[shape, reclaimer] = any(name != PODS for name in shared)
        return known

    def deserves_any(self, account: CapacityAccount, shape: PodShape) -> bool:
        """Return whether a queue deserves any resource that a shape requests."""
        return self._relevant(account, shape)[0]

    def exceeds_deserved(self, account: CapacityAccount, shape: PodShape, excess: frozenset[str]) -> bool:
        """Return whether a queue deserves none of a shape's resources, or has one of them in excess."""
        deserves_any, names = self._relevant(account, shape)
        return not deserves_any or not excess.isdisjoint(names)

    def _relevant(self, account: CapacityAccount, shape: PodShape) -> tuple[bool, list[str]]:
        relevant = self._of_queue.get((account.name, shape))
        if relevant is None:
            deserves_any = bool(intersection(shape.request, account.deserved))
            relevant = deserves_any, requested_dimensions(shape.request)
            self._of_queue[account.name, shape] = relevant
        return relevant


class ReclaimVote:
    """One vote: tracks the remaining amounts of queues as candidates are accepted one by one."""

    def __init__(
        self,
        queues: Queues,
        levels: int,
        relevance: Relevance,
        reclaimer: TaskInfo,
        account: CapacityAccount | None,
    ) -> None:
        self.queues = queues
        self.levels = levels
        self.relevance = relevance
        self.reclaimer = reclaimer
        self.account = account
        self.left: dict[str, Resource] = {}
        self.reduced: set[str] = set()

    def remaining_of(self, account: CapacityAccount) -> Resource:
        """Return the remaining amount of a queue."""
        remaining = self.left.get(account.name)
        if remaining is None:
            remaining = self.left[account.name] = account.allocated.clone()
        return remaining

    def refusal(self, task: TaskInfo, theirs: CapacityAccount) -> str:
        """Return why a candidate is refused; if it is accepted, deduct it and return an empty string."""
        if not self.relevance.helps(task.shape, self.reclaimer.shape):
            return "it holds nothing that the reclaimer requests"
        refusal = self.refusal_of_own_queue(task, theirs) or self._refusal_of_common_ancestor(task, theirs)
        if refusal:
            return refusal
        checked = self._ancestors_to_check(theirs)
        for above in checked:
            if not self.is_above_deserved(above, task.shape):
                return f"parent {self._at_deserved(above)}"
        self.deduct(task, [theirs, *checked])
        return ""

    def refusal_of_own_queue(self, task: TaskInfo, theirs: CapacityAccount) -> str:
        """Return why the candidate's own queue cannot lose it, empty if it can."""
        if not keeps_guarantee(theirs, self.remaining_of(theirs), task.request):
            return f"queue {theirs.name} would fall below its guarantee"
        if not self.is_above_deserved(theirs, task.shape):
            return self._at_deserved(theirs)
        return ""

    def _at_deserved(self, account: CapacityAccount) -> str:
        """Return the refusal that a queue is at or below deserved, now or without the accepted candidates."""
        holds = "would then hold" if account.name in self.reduced else "holds"
        return f"queue {account.name} {holds} no more than it deserves"

    def is_above_deserved(self, account: CapacityAccount, shape: PodShape) -> bool:
        """Return whether a queue deserves none of a shape's resources, or has one of them left in excess."""
        excess = excess_over(self.remaining_of(account), account.deserved)
        return self.relevance.exceeds_deserved(account, shape, excess)

    def _refusal_of_common_ancestor(self, task: TaskInfo, theirs: CapacityAccount) -> str:
        """Return the refusal if neither queue deserves anything and both share a near ancestor, else ""."""
        mine = self.account
        if mine is None or self.relevance.deserves_any(theirs, task.shape):
            return ""
        if self.relevance.deserves_any(mine, self.reclaimer.shape):
            return ""
        near = {mine.ancestor(level) for level in range(1, self.levels + 1)} - {None}
        common = [
            name for name in (theirs.ancestor(level) for level in range(1, self.levels + 1)) if name in near
        ]
        return f"neither queue deserves any of it, and {common[0]} is a parent of both" if common else ""

    def _ancestors_to_check(self, theirs: CapacityAccount) -> list[CapacityAccount]:
        """Return the near ancestors that the reclaimer's queue does not have at the same levels."""
        mine = self.account
        assert mine is not None, "a reclaimer's queue has an account"
        found = []
        for level in range(1, self.levels + 1):
            name = theirs.ancestor(level)
            if name is not None and name != mine.ancestor(level):
                found.append(self.queues.accounts[name])
        return found

    def deduct(self, task: TaskInfo, accounts: Sequence[CapacityAccount]) -> None:
        """Deduct a candidate from the remaining amounts of queues."""
        for account in accounts:
            self.remaining_of(account).sub(task.request)
            self.reduced.add(account.name)

    def explain(self, refusal: str, account: CapacityAccount) -> tuple[str, dict[str, object]]:
        """Return the sentence and the numbers of a vote, as one object for all equal amounts."""
        remaining = self.remaining_of(account)
        key = refusal, account.name
        left, why = self.queues.reasons.get(key, (None, ("", {})))
        if left is None or (left.cpu, left.memory, left.scalars) != (
            remaining.cpu,
            remaining.memory,
            remaining.scalars,
        ):
            left = remaining.clone()
            numbers = {"queue": account.name, "left": left, "deserved": account.deserved}
            why = refusal or f"queue {account.name} holds more than it deserves", numbers
            self.queues.reasons[key] = left, why
        return why
