"""Which tasks may a queue lose to another one?

Source: volcano ``pkg/scheduler/plugins/capacity/capacity.go`` (Reclaimable, UnifiedEvictable) at v1.15.1.
"""

from __future__ import annotations

from collections.abc import Sequence

from scheduler_core.errors import SchedulerPanic
from scheduler_core.framework.session import Session
from scheduler_core.framework.victims import victims_queue
from scheduler_core.model.job import TaskInfo
from scheduler_core.model.pod import PodShape
from scheduler_core.plugins.capacity.account import CapacityAccount, Queues
from scheduler_core.resource import PODS, Absent, Resource, intersection
from scheduler_core.trace import Why


class Reclaim:
    """Who may be reclaimed among one session's queues.

    Parameters
    ----------
    levels : int
        How many ancestors are looked at (argument `ancestorReclaimLevel`).

    """

    def __init__(self, session: Session, queues: Queues, levels: int) -> None:
        self.session = session
        self.queues = queues
        self.levels = levels
        # of a queue and a shape: whether the queue deserves any of what pods hold, and what these request
        self._relevant: dict[tuple[str, PodShape], tuple[bool, list[str]]] = {}

    def reclaimable(
        self, reclaimer: TaskInfo, candidates: Sequence[TaskInfo], why: Why | None
    ) -> list[TaskInfo]:
        """Return the candidates that their queues, and those above them, can lose, in the order of losing."""
        account = self._account_of(reclaimer)
        if self.queues.obstacle or account is None:
            return []
        waiting = victims_queue(self.session, candidates, reclaimer)
        judgement = Judgement(self.queues, self.levels, reclaimer, account)
        accepted = []
        while waiting:
            task = waiting.pop()
            theirs = self._account_of(task)
            if theirs is None:
                continue
            refusal = judgement.refusal(task, theirs)
            if not refusal:
                accepted.append(task)
            if why is not None:
                why[task.uid] = judgement.explain(refusal, theirs)
        return accepted

    def losable(self, queue: str, shapes: Sequence[PodShape]) -> list[bool]:
        """Tell which shapes of tasks a queue might lose first.

        A pod larger than all that the queue holds is left to the question itself, which ends the session.
        """
        account = self.queues.accounts.get(queue)
        if self.queues.obstacle or account is None:
            return [False] * len(shapes)
        excess = account.allocated.excess_over(account.deserved)
        return [self._might_lose(account, shape, excess) for shape in shapes]

    def _might_lose(self, account: CapacityAccount, shape: PodShape, excess: frozenset[str]) -> bool:
        held, request = account.allocated, shape.request
        if not request.less_equal(held, Absent.ZERO):
            return True
        relevant = self._relevant.get((account.name, shape))
        if relevant is None:
            shares = bool(intersection(request, account.deserved))
            relevant = self._relevant[account.name, shape] = shares, request.requested_dimensions()
        shares, names = relevant
        if shares and excess.isdisjoint(names):
            return False
        return account.guarantee.is_nothing() or keeps_guarantee(account, held, request)

    def evictable(
        self, initiator: TaskInfo, candidates: Sequence[TaskInfo], action: str, why: Why | None
    ) -> list[TaskInfo]:
        """Return everybody for gangpreempt; for gangreclaim, in order, those that their queues can lose."""
        if action != "gangreclaim":
            return list(candidates)
        if self.queues.obstacle:
            return []
        judgement = Judgement(self.queues, 0, initiator, None)
        accepted = []
        for task in candidates:
            if task.job is None:
                raise SchedulerPanic(f"pod {task.key} is offered for gangreclaim, but belongs to no job")
            theirs = self.queues.accounts.get(task.job.queue)
            if theirs is None:
                continue
            refusal = judgement.refusal_of_surplus(task, theirs)
            if not refusal:
                judgement.take(task, [theirs])
                accepted.append(task)
            if why is not None:
                why[task.uid] = judgement.explain(refusal, theirs)
        return accepted

    def _account_of(self, task: TaskInfo) -> CapacityAccount | None:
        return self.queues.accounts.get(task.job.queue) if task.job is not None else None


def keeps_guarantee(account: CapacityAccount, held: Resource, request: Resource) -> bool:
    """Tell whether a queue still has its guarantee once a pod is gone."""
    return account.guarantee.less_equal(held.clone().sub(request), Absent.ZERO)


def has_too_much(account: CapacityAccount, held: Resource, request: Resource) -> bool:
    """Tell whether a queue deserves nothing of what a pod holds, or has too much of some of it."""
    if not intersection(request, account.deserved):
        return True
    return held.greater_partly_relevant(account.deserved, request)


class Judgement:
    """One question: what queues have left while candidates are taken from them one by one."""

    def __init__(
        self, queues: Queues, levels: int, reclaimer: TaskInfo, account: CapacityAccount | None
    ) -> None:
        self.queues = queues
        self.levels = levels
        self.reclaimer = reclaimer
        self.account = account
        self.left: dict[str, Resource] = {}

    def held_by(self, account: CapacityAccount) -> Resource:
        """Return what a queue has left."""
        held = self.left.get(account.name)
        if held is None:
            held = self.left[account.name] = account.allocated.clone()
        return held

    def refusal(self, task: TaskInfo, theirs: CapacityAccount) -> str:
        """Return why a candidate stays; empty when it goes, and then it is taken from what is left."""
        shared = intersection(task.request, self.reclaimer.request)
        if not any(name != PODS for name in shared):
            return "the pod holds nothing that the reclaimer requests"
        refusal = self.refusal_of_surplus(task, theirs) or self._refusal_of_relatives(task, theirs)
        if refusal:
            return refusal
        looked_at = self._looked_at(theirs)
        for above in looked_at:
            if not has_too_much(above, self.held_by(above), task.request):
                return f"queue {above.name} above has no more than it deserves"
        self.take(task, [theirs, *looked_at])
        return ""

    def refusal_of_surplus(self, task: TaskInfo, theirs: CapacityAccount) -> str:
        """Return why the candidate's own queue cannot lose it, empty when it can."""
        held = self.held_by(theirs)
        if not keeps_guarantee(theirs, held, task.request):
            return f"queue {theirs.name} would fall below its guarantee"
        if not has_too_much(theirs, held, task.request):
            return f"queue {theirs.name} has no more than it deserves"
        return ""

    def _refusal_of_relatives(self, task: TaskInfo, theirs: CapacityAccount) -> str:
        """Return why a near relative's pod stays when neither queue deserves anything, empty when it goes."""
        mine = self.account
        if mine is None or intersection(task.request, theirs.deserved):
            return ""
        if intersection(self.reclaimer.request, mine.deserved):
            return ""
        near = {mine.ancestor(level) for level in range(1, self.levels + 1)} - {None}
        common = [
            name for name in (theirs.ancestor(level) for level in range(1, self.levels + 1)) if name in near
        ]
        return f"neither queue deserves anything, and {common[0]} is above both" if common else ""

    def _looked_at(self, theirs: CapacityAccount) -> list[CapacityAccount]:
        """Return the near ancestors that the reclaimer's queue does not have at the same level."""
        mine = self.account
        assert mine is not None, "a reclaimer's queue has an account"
        found = []
        for level in range(1, self.levels + 1):
            name = theirs.ancestor(level)
            if name is not None and name != mine.ancestor(level):
                found.append(self.queues.accounts[name])
        return found

    def take(self, task: TaskInfo, accounts: Sequence[CapacityAccount]) -> None:
        """Take a candidate from what queues have left."""
        for account in accounts:
            self.held_by(account).sub(task.request)

    def explain(self, refusal: str, account: CapacityAccount) -> tuple[str, dict[str, object]]:
        """Return the sentence and the numbers of a vote, the same ones as long as nothing moved."""
        held = self.held_by(account)
        key = refusal, account.name
        left, why = self.queues.told.get(key, (None, ("", {})))
        if left is None or (left.cpu, left.memory, left.scalars) != (held.cpu, held.memory, held.scalars):
            left = held.clone()
            numbers = {"queue": account.name, "left": left, "deserved": account.deserved}
            why = refusal or f"queue {account.name} can lose it", numbers
            self.queues.told[key] = left, why
        return why
