"""The recorder of a session: gates of waiting jobs, votes on victims, derivations of deserved amounts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from scheduler_core.decision import Why
from scheduler_core.framework.observer import ChosenNode, Explanation, Observer, Votes
from scheduler_core.framework.session import Session
from scheduler_core.model.fit import FitErrors
from scheduler_core.model.job import JobInfo, TaskInfo
from scheduler_core.model.queue import QueueInfo
from scheduler_core.model.status import TaskStatus
from scheduler_core.recording import evictions
from scheduler_core.recording.nearest import NearestNodes
from scheduler_core.recording.roles import short_of_minimum
from scheduler_core.recording.votes import RecordedVotes, recorded
from scheduler_core.recording.waiting import gate_of

# The gate of a job whose queue may not reclaim, which explains missing evictions, not missing room.
RECLAIM = "reclaim"


class Recorder(Observer):
    """The explanations of one session.

    Attributes
    ----------
    deserved : dict
        Rounds or levels of the derivation of deserved amounts, by queue.
    spared : dict
        Candidates that were not evicted, with the last votes on them: by action and the pod or job that needs
        room, then by pod.
    left_out : dict
        The number of nodes that would accept a pod but were not searched for victims, as too little would
        have become free there; by pod, at its last attempt.
    pending : dict
        The first gate that stopped a job, by job; the gate of reclaim only if there is no other.

    """

    listens = True

    def __init__(self, session: Session) -> None:
        self._session = session
        self._nearest = NearestNodes(session)
        self.deserved: dict[str, list[dict[str, Any]]] = {}
        self.spared: dict[tuple[str, str], dict[str, dict[str, Any]]] = {}
        self.left_out: dict[str, int] = {}
        self.pending: dict[str, dict[str, Any]] = {}

    # waiting jobs

    def job_invalid(self, job: JobInfo, message: str) -> None:
        """Record that a job with pending tasks has too few tasks, and in which roles."""
        if job.by_status[TaskStatus.PENDING]:
            self._stop(job, "gang", plugin="gang", queue=job.queue, **short_of_minimum(job), message=message)

    def job_rejected(self, job: JobInfo, why: Why) -> None:
        """Record that a job is not enqueued."""
        self._stop(job, "enqueue", **{"queue": job.queue, **why})

    def queue_overused(self, queue: QueueInfo, jobs: Iterable[JobInfo]) -> None:
        """Record that jobs wait because their queue is overused."""
        for job in jobs:
            message = f"queue {queue.name} has all that it deserves"
            self._stop(job, "overused", queue=queue.name, message=message)

    def reclaim_refused(self, job: JobInfo, why: Why) -> None:
        """Record that a job's queue may not reclaim for it."""
        self._stop(job, RECLAIM, **why)

    def queue_full(self, job: JobInfo, task: TaskInfo, why: Why) -> None:
        """Record that a queue refuses a task."""
        self._stop(job, "queue", pod=task.key, **why)

    def gated(self, job: JobInfo) -> None:
        """Record the scheduling gates of a job's pending tasks, if there are any."""
        tasks = [task for task in job.by_status[TaskStatus.PENDING].values() if task.shape.gated]
        if tasks:
            self._stop(job, **gate_of(job, tasks))

    def fits_nowhere(self, task: TaskInfo, errors: FitErrors) -> None:
        """Record that a task fits no node, and which node came closest."""
        job = task.job
        if job is None or self._knows(job):
            return
        self._stop(
            job,
            "node",
            queue=job.queue,
            pod=task.key,
            message=errors.text(),
            nodes=dict(sorted(errors.reasons().items())),
            **self._nearest.to(task, errors).facts(),
        )

    def no_score(self, task: TaskInfo) -> None:
        """Record that nodes fit a task, but none has a score."""
        if task.job is not None:
            message = "nodes would take it, but none has a score"
            self._stop(task.job, "refused", pod=task.key, message=message)

    def placement_failed(self, task: TaskInfo, why: str) -> None:
        """Record that allocating a task to its chosen node failed."""
        job = task.job
        assert job is not None, "only tasks of a job are placed"
        self._stop(job, "refused", queue=job.queue, pod=task.key, message=why)

    def _knows(self, job: JobInfo) -> bool:
        """Return whether the gate of a job is known, regardless of evictions."""
        return job.key in self.pending and self.pending[job.key]["gate"] != RECLAIM

    def _stop(self, job: JobInfo, gate: str, **facts: Any) -> None:
        """Keep the first gate that stopped a job."""
        if job.key not in self.pending or (gate != RECLAIM and not self._knows(job)):
            known = {name: fact for name, fact in facts.items() if fact is not None}
            self.pending[job.key] = {"gate": gate, **known}

    # evictions

    def votes(self) -> RecordedVotes:
        """Return an object that records the plugins' votes."""
        return RecordedVotes()

    def plugins_voted(self, for_task: TaskInfo, candidates: Sequence[TaskInfo], votes: Votes) -> None:
        """Record which candidates were refused, and by which vote."""
        self._spare(for_task.key, "", candidates, recorded(votes))

    def plugins_voted_for_gang(
        self, job: JobInfo, candidates: Callable[[], Sequence[TaskInfo]], votes: Votes
    ) -> None:
        """Record which candidates were refused for a whole gang."""
        self._spare("", job.key, candidates(), recorded(votes))

    def _spare(
        self, for_pod: str, for_job: str, candidates: Sequence[TaskInfo], votes: RecordedVotes
    ) -> None:
        action = self._session.action
        purpose = action, for_pod or for_job
        spared = self.spared.get(purpose)
        if spared is None:
            if for_pod and len(votes.victims) == len(candidates):
                return
            spared = self.spared[purpose] = {}
        for task in votes.victims if spared else ():
            spared.pop(task.key, None)
        plainly = len(votes.ballots) == 1 and votes.tier
        shared: dict[str, Any] = {} if plainly else {"ballots": votes.ballots_as_data()}
        if for_job:
            shared["for_job"] = for_job
        for task, tier, plugin, text, numbers in votes.refusals(candidates):
            spared[task.key] = {
                "pod": task.key,
                "for": for_pod,
                "action": action,
                "tier": tier,
                "plugin": plugin,
                "why": text,
                "numbers": numbers,
                **shared,
            }

    def nodes_left_out(self, for_task: TaskInfo, count: int) -> None:
        """Record the number of nodes that were not searched for victims at a pod's last attempt."""
        self.left_out[for_task.key] = count

    def explain_eviction(
        self,
        victim: TaskInfo,
        for_task: TaskInfo,
        votes: Votes,
        next_victim: TaskInfo | None,
        *,
        dry_run: bool,
    ) -> Explanation:
        """Return why a task is about to be evicted for another one."""
        return evictions.explain(
            self._session, victim, for_task, recorded(votes), next_victim, dry_run=dry_run
        )

    def explain_gang_eviction(
        self,
        victim: TaskInfo,
        job: JobInfo,
        demand: Sequence[TaskInfo],
        votes: Votes,
        chosen: Sequence[ChosenNode],
    ) -> Explanation:
        """Return why a task is about to be evicted for the `demand` of a job."""
        return evictions.explain_for_gang(self._session, victim, job, demand, recorded(votes), chosen)

    def explain_shuffle(self, victim: TaskInfo, tier: int, order: int, plugins: Sequence[str]) -> Explanation:
        """Return why shuffle evicted a task."""
        return evictions.explain_shuffle(victim, tier, order, plugins)

    # deserved

    def derived(self, plugin: str, queue: str, steps: Iterable[Mapping[str, Any]]) -> None:
        """Record the steps in which a plugin derived what a queue deserves, after those of other plugins."""
        others = [step for step in self.deserved.get(queue, ()) if step["plugin"] != plugin]
        self.deserved[queue] = [*others, *({**step, "plugin": plugin} for step in steps)]
