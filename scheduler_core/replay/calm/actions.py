"""The decisions of the actions in a calm session."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping
from typing import Any, NamedTuple

from scheduler_core.decision import Decision
from scheduler_core.errors import PrePredicateError, ScoreError
from scheduler_core.framework.extension_points import Point
from scheduler_core.framework.plugin_fn import EnqueueableFn, QueueOrderFn
from scheduler_core.framework.session import Session
from scheduler_core.model.job import TaskInfo
from scheduler_core.model.pod import PodShape
from scheduler_core.model.queue import QueueInfo
from scheduler_core.plugins import capacity
from scheduler_core.replay.calm.evictions import Evictions
from scheduler_core.replay.calm.kinds import JobKinds
from scheduler_core.replay.calm.lines import CalmJob, Line, Lines, Turn


class NotCalmError(Exception):
    """The session is not calm: the actions must decide."""


class Decided(NamedTuple):
    """The decisions of a calm session.

    Attributes
    ----------
    enqueued : list of CalmJob
        In order.
    placed : list of (CalmJob, list of int)
        In order, each with the nodes of its pods.

    """

    enqueued: list[CalmJob]
    placed: list[tuple[CalmJob, list[int]]]


class CalmActions:
    """The actions of consecutive calm sessions.

    Attributes
    ----------
    full : set of int
        The classes of tasks that fit no node.
    is_flat : bool
        Whether no queue is charged for jobs of other queues.
    limits_move : bool
        Whether deserved amounts of queues change with jobs of other queues.
    tried : set of str
        Queues with jobs that were placed in part and displaced; cleared when queues are renewed.

    """

    def __init__(self, session: Session, kinds: JobKinds) -> None:
        self.session = session
        self.full: set[int] = set()
        self._has_room = True
        self.limits_move = session.conf.first_option("proportion") is not None
        self.tried: set[str] = set()
        orders = session.functions.of_kind(Point.QUEUE_ORDER, QueueOrderFn)
        is_tree = session.conf.hierarchy_enabled(capacity.NAME)
        self.is_flat = not is_tree and all(order.key_holds is None for order in orders)
        voters = session.functions.of_kind(Point.JOB_ENQUEUEABLE, EnqueueableFn)
        self._readers = [voter.reads for voter in voters if voter.reads is not None]
        self._is_read = len(self._readers) == len(voters)
        self._votes_by_queue = self.is_flat and session.conf.first_option("overcommit") is None
        self._pre_predicated: set[int] = set()
        self._found: dict[int, int] = {}
        self._evictions = Evictions(session, kinds, is_flat=self.is_flat)

    def release(self, places: Iterable[tuple[int, PodShape]]) -> None:
        """Release the amounts of ended pods on their nodes."""
        for node, shape in places:
            self.session.count_pod(shape, node, -1)
        self._regain_room()

    def decide(self, pending: Lines, enqueued: Lines, moved: Collection[str]) -> Decided:
        """Enqueue and place jobs: enqueued jobs move to another line, placed jobs leave theirs.

        A job for which no node was found is tried again only after a pod has released its node, as nothing
        else changes what capacity allows a queue. `moved` are the queues with new jobs, or with jobs whose
        allocated or reserved amounts changed; where votes read only the job's own queue, votes on jobs of
        other queues are unchanged.

        Raises
        ------
        NotCalmError
            If an answer is not possible in a calm session. The amounts of nodes are unchanged; queues must be
            renewed.

        """
        decided = Decided([], [])
        if not (pending or enqueued):
            self.session.known_to_wait = set()
            return decided
        self.session.known_to_wait = {*pending, *enqueued}
        try:
            voting = [name for name in pending if name in moved] if self._votes_by_queue else pending
            self._enqueue(pending, voting, decided.enqueued)
            for job in decided.enqueued:
                pending.remove(job)
                enqueued.add(job)
            if decided.enqueued or self._has_room or self.limits_move:
                self._has_room = False
                self._allocate(enqueued, decided.placed)
                for job, _ in decided.placed:
                    enqueued.remove(job)
                if self._evictions.might_follow(enqueued, self.full):
                    raise NotCalmError
        except (NotCalmError, ScoreError) as error:
            for job, nodes in decided.placed:
                self.release([(node, job.kind.task.shape) for node in nodes])
            raise NotCalmError from error
        return decided

    # enqueue

    def _enqueue(self, pending: Lines, voting: Iterable[str], accepted: list[CalmJob]) -> None:
        """Vote on the first job of each line of some queues, and after each enqueued job on the next one.

        `actions.enqueue` says why the others may be skipped.
        """
        if pending and not self._is_read:
            raise NotCalmError
        session = self.session
        turns = {name: self._voters(name, pending[name]) for name in voting}
        for queue in self._in_order([name for name, (_, turn) in turns.items() if turn]):
            reads, turn = turns[queue.name]
            while turn:
                job = turn.job
                if self._try_enqueue(job):
                    session.decisions.append(Decision("enqueue", "enqueue", job.key))
                    accepted.append(job)
                    turn.advance()
                else:
                    turn.line.rejected_at = reads
                    turn.skip_line()

    def _voters(self, queue: str, lines: Mapping[bytes, Line]) -> tuple[Hashable, Turn]:
        """Return the values that votes read of a queue, and its lines not rejected at these values."""
        reads = tuple([read(queue) for read in self._readers])
        return reads, Turn([line for line in lines.values() if line.rejected_at != reads])

    def _try_enqueue(self, job: CalmJob) -> bool:
        """Vote on a job; if it is enqueued, update the plugins. Returns whether it is."""
        session, twin = self.session, job.kind.job
        twin.forget_touch()
        if twin.min_resources is not None and session.plugins.job_enqueueable(twin) is not None:
            if twin.moved:
                raise NotCalmError  # one plugin made a reservation before another one rejected the job
            return False
        session.plugins.job_enqueued(twin)
        return True

    def _in_order(self, names: Collection[str]) -> list[QueueInfo]:
        queues = [self.session.queues[name] for name in names]
        if len(queues) > 1:
            queues.sort(key=self._queue_key())
        return queues

    def _queue_key(self) -> Callable[[QueueInfo], tuple[Any, ...]]:
        """Return a sort key for queues."""
        key = self.session.orders.queue_key()
        if key is None:
            raise NotCalmError
        return key

    # allocate

    def _allocate(self, enqueued: Lines, placed: list[tuple[CalmJob, list[int]]]) -> None:
        """Place jobs, one at a time, always from the queue with the smallest share.

        Skips lines whose class fits no node, and the rest of a line after a job that was not placed: while
        the action runs, queues and nodes only fill up.
        """
        session = self.session
        turns = {}
        for name, lines in enqueued.items():
            fitting = [line for line in lines.values() if self._best(line.kind.task) is not None]
            if fitting:
                turns[name] = Turn(fitting)
        while turns:
            queue = self._next_queue(turns)
            if session.plugins.overused(queue):
                del turns[queue.name]
                continue
            turn = turns[queue.name]
            job = turn.job
            if len(nodes := self._place(job)) == len(job.arrival.pods):
                placed.append((job, nodes))
                turn.advance()
            else:
                self._displace(job, nodes)
                turn.skip_line()
            if not turn:
                del turns[queue.name]

    def _next_queue(self, names: Collection[str]) -> QueueInfo:
        if len(names) == 1:
            return self.session.queues[next(iter(names))]
        return min([self.session.queues[name] for name in names], key=self._queue_key())

    def _best(self, task: TaskInfo) -> int | None:
        """Return the best node that a task fits at once, None if it fits none; cached until nodes change."""
        number = task.shape.number
        if number in self.full:
            return None
        known = self._found.get(number)
        if known is None:
            if number not in self._pre_predicated:
                self._pre_predicate(task)
            known = self.session.placement.best_at_once(task)
            if known is None:
                self.full.add(number)
            else:
                self._found[number] = known
        return known

    def _pre_predicate(self, task: TaskInfo) -> None:
        """Call the pre-predicates for a class of tasks, once: their answers follow from the class alone."""
        try:
            self.session.plugins.pre_predicate(task)
        except PrePredicateError as error:
            raise NotCalmError from error
        self._pre_predicated.add(task.shape.number)

    def _place(self, job: CalmJob) -> list[int]:
        """Place a job's pods one after the other until one fits no node; return their nodes."""
        session, task, count = self.session, job.kind.task, len(job.arrival.pods)
        nodes: list[int] = []
        while len(nodes) < count and (node := self._best(task)) is not None:
            if session.plugins.allocatable(job.kind.queue, task) is not None:
                break
            session.nodes.count(task.shape.amounts, node, 1)
            self._found.clear()
            task.node, task.node_name = node, session.nodes.names[node]
            session.events.fire_allocate(task)
            nodes.append(node)
        return nodes

    def _displace(self, job: CalmJob, nodes: Iterable[int]) -> None:
        """Remove the pods of a job that was placed only in part."""
        session, task = self.session, job.kind.task
        for node in nodes:
            task.node, task.node_name = node, session.nodes.names[node]
            session.nodes.count(task.shape.amounts, node, -1)
            session.events.fire_deallocate(task)
            self.tried.add(job.kind.queue.name)
            self._regain_room()

    def _regain_room(self) -> None:
        """Note that nodes have more room than before."""
        self.full.clear()
        self._found.clear()
        self._has_room = True
