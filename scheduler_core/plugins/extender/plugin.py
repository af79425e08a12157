"""The callbacks of plugin extender, and their results when a call fails."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from scheduler_core.conf import Arguments
from scheduler_core.decision import Why
from scheduler_core.errors import EventError, ScoreError
from scheduler_core.framework.extender_calls import KEPT, CallFailed, ExtenderCalls
from scheduler_core.framework.extension_points import ABSTAIN, PERMIT, REJECT, Point, Vote
from scheduler_core.framework.session import Session
from scheduler_core.model.fit import Code, Status, no_refusals
from scheduler_core.model.fit import Why as Refusals
from scheduler_core.model.job import JobInfo, TaskInfo
from scheduler_core.model.queue import QueueInfo
from scheduler_core.model.status import TaskStatus
from scheduler_core.plugins.extender.answers import Answer
from scheduler_core.plugins.extender.arguments import ExtenderArguments
from scheduler_core.plugins.extender.encoding import encode
from scheduler_core.plugins.extender.kubernetes import Json
from scheduler_core.plugins.extender.wire import Wire

NAME = "extender"

Parsed = TypeVar("Parsed")


def open_session(session: Session, arguments: Arguments) -> None:
    """Call onSessionOpen, and register a callback for each configured verb.

    If the call fails and failures are not ignorable, onSessionClose is the only other call of the session.
    """
    extender = Extender(session, ExtenderArguments.read(arguments))
    verbs = extender.arguments.verbs
    if "onSessionClose" in verbs:
        session.events.add_close_fn(extender.close_session)
    if "onSessionOpen" in verbs and not extender.open_session():
        return
    if "predicate" in verbs:
        session.registry.add_predicate(NAME, extender.predicate, explain=_no_opinion)
    if "prioritize" in verbs:
        session.registry.add_batch_node_order(NAME, extender.prioritize)
    if "preemptable" in verbs:
        session.registry.add_evictable(Point.PREEMPTABLE, NAME, extender.preemptable)
    if "reclaimable" in verbs:
        session.registry.add_evictable(Point.RECLAIMABLE, NAME, extender.reclaimable)
    if "queueOverused" in verbs:
        session.registry.add_overused(NAME, extender.queue_overused)
    if "jobEnqueueable" in verbs:
        session.registry.add_job_enqueueable(NAME, extender.job_enqueueable)
    if "jobReady" in verbs:
        session.registry.add_job_ready(NAME, extender.job_ready)
    session.events.add_handler(allocate=extender.on_allocate, deallocate=extender.on_deallocate)


def _no_opinion(_task: TaskInfo, nodes: NDArray[np.intp]) -> Refusals:
    """Refuse no node, as the extender is not called for explanations."""
    return no_refusals(len(nodes))


class Extender:
    """The extender's callbacks in one session."""

    def __init__(self, session: Session, arguments: ExtenderArguments) -> None:
        self.session = session
        self.arguments = arguments
        self.ignorable = arguments.ignorable
        self.wire = Wire(session)
        calls = session.kept.setdefault(KEPT, ExtenderCalls(None))
        assert isinstance(calls, ExtenderCalls), "the key is the calls' own"
        self.calls = calls

    # calls

    def open_session(self) -> bool:
        """Call onSessionOpen; return whether the extender may be called in this session."""
        try:
            self._send("onSessionOpen", self.wire.session_open(), ignorable=self.ignorable)
        except CallFailed:
            return self.ignorable
        return True

    def close_session(self) -> None:
        """Call onSessionClose, and ignore a failure."""
        try:
            self._send("onSessionClose", {}, ignorable=True)
        except CallFailed:
            return

    def _send(self, verb: str, request: Json, *, ignorable: bool) -> bytes:
        """Send a request and return the raw body of the answer; raises CallFailed."""
        try:
            arguments = self.arguments
            return self.calls.post(
                arguments.prefix, arguments.verbs[verb], encode(request), arguments.timeout
            )
        except CallFailed as error:
            self.calls.failed(verb, str(error), ignorable=ignorable)
            raise

    def _call(self, verb: str, request: Json, read: Callable[[Answer], Parsed]) -> Parsed:
        """Send a request and return what `read` returns for the answer; raises CallFailed."""
        raw = self._send(verb, request, ignorable=self.ignorable)
        try:
            return read(Answer.read(raw))
        except CallFailed as error:
            self.calls.failed(verb, str(error), ignorable=self.ignorable)
            raise

    # nodes

    def predicate(self, task: TaskInfo, nodes: NDArray[np.intp]) -> Refusals:
        """Return why the extender refuses each node, (K,); one call per node."""
        if not self.arguments.is_interested_in(task):
            return no_refusals(len(nodes))
        sent = self.wire.task(task)
        return np.array([self._refusal(sent, node) for node in nodes.tolist()], dtype=np.int32)

    def _refusal(self, sent: Json, node: int) -> int:
        request = {"task": sent, "node": self.wire.node(node)}
        try:
            reason, code = self._call("predicate", request, lambda a: (a.text("status"), a.integer("code")))
        except CallFailed as error:
            if self.ignorable:
                return 0
            reason, code = str(error), int(Code.ERROR)
        if not reason:
            return 0
        return self.session.statuses.number(Status(code or int(Code.ERROR), reason, NAME))

    def prioritize(self, task: TaskInfo, nodes: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return the extender's scores unchanged, (K,); 0 for a node without one.

        Raises
        ------
        ScoreError
            If it returns an error message or no scores at all, even if failures are ignorable.

        """
        if not self.arguments.is_interested_in(task):
            return np.zeros(len(nodes))
        sent = [self.wire.node(node) for node in nodes.tolist()]
        request = {"task": self.wire.task(task), "nodes": sent or None}
        try:
            error_message, scores = self._call(
                "prioritize", request, lambda a: (a.text("errorMessage"), a.numbers("nodeScore"))
            )
        except CallFailed as error:
            if self.ignorable:
                return np.zeros(len(nodes))
            raise ScoreError(str(error)) from error
        if error_message or scores is None:
            raise ScoreError(error_message)
        names = self.session.nodes.names
        return np.array([scores.get(names[node], 0.0) for node in nodes.tolist()], dtype=np.float64)

    # victims

    def preemptable(
        self, preemptor: TaskInfo, candidates: Sequence[TaskInfo], why: Why | None
    ) -> list[TaskInfo] | None:
        """Return the candidates that the extender accepts as victims of preempt."""
        return self._victims("preemptable", preemptor, candidates, why)

    def reclaimable(
        self, reclaimer: TaskInfo, candidates: Sequence[TaskInfo], why: Why | None
    ) -> list[TaskInfo] | None:
        """Return the candidates that the extender accepts as victims of reclaim."""
        return self._victims("reclaimable", reclaimer, candidates, why)

    def _victims(
        self, verb: str, evictor: TaskInfo, candidates: Sequence[TaskInfo], why: Why | None
    ) -> list[TaskInfo] | None:
        """Return the tasks that the extender names; None if it abstains, an empty list if the call fails."""
        if not self.arguments.is_interested_in(evictor):
            return None
        sent = [self.wire.task(task) for task in candidates]
        request = {"evictor": self.wire.task(evictor), "evictees": sent or None}
        try:
            victims = self._call(verb, request, self._read_victims)
        except CallFailed:
            victims = []
        if why is not None and victims is not None:
            named = {task.uid for task in victims}
            for task in candidates:
                text = "the extender accepts it" if task.uid in named else "the extender does not accept it"
                why[task.uid] = (text, {})
        return victims

    def _read_victims(self, answer: Answer) -> list[TaskInfo] | None:
        status, uids = answer.integer("status"), answer.uids("victims")
        if status == 0:
            return None
        unknown = sorted(set(uids) - self._tasks.keys())
        if unknown:
            raise CallFailed(f"victim {unknown[0]!r} is not a task of the session")
        return [self._tasks[uid] for uid in uids]

    @cached_property
    def _tasks(self) -> dict[str, TaskInfo]:
        jobs = self.session.jobs.values()
        return {task.uid: task for job in jobs for task in job.tasks.values()}

    # queues and jobs

    def queue_overused(self, queue: QueueInfo) -> bool:
        """Return whether the extender calls a queue overused; so does a failed call, unless ignorable."""
        request = {"queue": self.wire.queue(queue)}
        try:
            return self._call("queueOverused", request, lambda answer: answer.flag("overused"))
        except CallFailed:
            return not self.ignorable

    def job_enqueueable(self, job: JobInfo, why: Why) -> Vote:
        """Return the extender's vote on a job."""
        try:
            status = self._call("jobEnqueueable", {"job": self.wire.job(job)}, lambda a: a.integer("status"))
        except CallFailed as error:
            why["message"] = str(error)
            return PERMIT if self.ignorable else REJECT
        if status < 0:
            why["message"] = "the extender rejects the job"
            return REJECT
        return PERMIT if status > 0 else ABSTAIN

    def job_ready(self, job: JobInfo) -> bool:
        """Return whether the extender calls a job ready.

        After a failed call the job is ready if failures are *not* ignorable, as in Volcano.
        """
        try:
            return self._call("jobReady", {"job": self.wire.job(job)}, lambda answer: answer.flag("status"))
        except CallFailed:
            return not self.ignorable

    # events

    def on_allocate(self, task: TaskInfo) -> None:
        """Call allocateFunc for an allocated task; raises EventError if the extender refuses."""
        if task.status is TaskStatus.ALLOCATED:
            self.wire.allocated_to[task.uid] = task.node_name
        if "allocateFunc" not in self.arguments.verbs or not self.arguments.is_interested_in(task):
            return
        try:
            error_message = self._call("allocateFunc", {"task": self.wire.task(task)}, _error_message)
        except CallFailed as error:
            if self.ignorable:
                return
            raise EventError(str(error)) from error
        if error_message:
            raise EventError(error_message)

    def on_deallocate(self, task: TaskInfo) -> None:
        """Call deallocateFunc for a deallocated task; the answer is ignored."""
        if "deallocateFunc" not in self.arguments.verbs or not self.arguments.is_interested_in(task):
            return
        try:
            self._send("deallocateFunc", {"task": self.wire.task(task)}, ignorable=True)
        except CallFailed:
            return


def _error_message(answer: Answer) -> str:
    return answer.text("errorMessage")
