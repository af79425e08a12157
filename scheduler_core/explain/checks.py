"""What is asked of every job for which an action might evict, whichever action it is?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from scheduler_core.explain.reasons import Reason, reason
from scheduler_core.explain.wording import counted
from scheduler_core.framework.session import Session
from scheduler_core.framework.victims import Verdict
from scheduler_core.model.job import JobInfo, TaskInfo
from scheduler_core.model.queue import QueueInfo


class Check(NamedTuple):
    """One line of the list."""

    passed: bool
    reason: Reason

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {"id": self.reason["id"], "passed": self.passed, "reason": self.reason}


def let_in(session: Session, job: JobInfo) -> Check:
    """Tell whether any action looks at a job."""
    name = "check.enqueued"
    if job.is_pending:
        return Check(False, reason(name, "The job has not been let in, so no action looks at it."))
    failure = session.job_valid(job)
    if failure is not None:
        return Check(False, reason(name, f"The job is not valid: {failure[1]}."))
    return Check(True, reason(name, "The job has been let in."))


def starves(session: Session, job: JobInfo) -> Check:
    """Tell whether a job counts as starving, with its pods by how they stand."""
    starving = session.job_starving(job)
    numbers = {
        "minAvailable": job.min_available,
        "ready": job.ready_count,
        "promised": job.waiting_count,
        "pods": job.size,
    }
    held = (
        f"{job.ready_count} placed and {job.waiting_count} promised of {job.size}, {job.min_available} needed"
    )
    said = "starves" if starving else "does not count as starving"
    return Check(starving, reason("check.starving", f"The job {said}: {held}.", numbers))


def queue_may_evict(session: Session, queue: QueueInfo, tasks: Sequence[TaskInfo], whom: str) -> Check:
    """Tell whether a queue may take from others for some tasks, which are called `whom`."""
    name = "check.may-evict"
    if session.overused(queue):
        return Check(False, reason(name, f"Queue {queue.name} is overused: it has all that it deserves."))
    refusal = session.preemptive(queue, tasks)
    if refusal is not None:
        numbers: dict[str, Any] = {
            key: refusal[key] for key in ("queue", "plugin", "short") if key in refusal
        }
        return Check(False, reason(name, f"Queue {queue.name} may not evict: {refusal['message']}.", numbers))
    return Check(True, reason(name, f"Queue {queue.name} may evict for {whom}."))


def candidates_found(count: int, nodes: int) -> Check:
    """Tell how many pods might make way before any plugin is asked."""
    text = f"{counted(count, 'pod')} on {counted(nodes, 'node')} might make way."
    return Check(count > 0, reason("check.candidates", text, {"candidates": count, "nodes": nodes}))


def said_counts(why: Counter[str]) -> str:
    """Return how many pods are no candidates for which reason, as one phrase."""
    return ", ".join(f"{count} {text}" for text, count in sorted(why.items())) or "they are empty"


def votes(allowed: int, refused: Counter[str]) -> Check:
    """Tell how many pods the plugins let go, and how many each of them kept."""
    told = ", ".join(f"{plugin} refuses {count}" for plugin, count in sorted(refused.items()))
    text = f"The plugins let {counted(allowed, 'pod')} go{f'; {told}' if told else ''}."
    numbers = {"allowed": allowed, "refused": dict(sorted(refused.items()))}
    return Check(allowed > 0, reason("check.votes", text, numbers))


def refusals(candidates: Iterable[TaskInfo], verdict: Verdict) -> Iterator[tuple[TaskInfo, str]]:
    """Yield each candidate that stays with the first plugin that refused it."""
    going = {task.uid for task in verdict.victims}
    for task in candidates:
        if task.uid not in going:
            plugin = next(
                (
                    plugin
                    for _, plugin, accepted, _ in verdict.votes
                    if accepted is not None and task.uid not in accepted
                ),
                None,
            )
            if plugin is not None:
                yield task, plugin
