"""Checks that are common to all actions that evict."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from scheduler_core.explain.ballots import passed_over
from scheduler_core.explain.reasons import Reason, reason
from scheduler_core.explain.wording import agreed, counted
from scheduler_core.framework.session import Session
from scheduler_core.model.job import JobInfo, TaskInfo
from scheduler_core.model.queue import QueueInfo
from scheduler_core.model.task import NO_NODE
from scheduler_core.recording.votes import RecordedVotes, Refusal

_MOST_REASONS = 3


class Check(NamedTuple):
    """One line of the checklist."""

    passed: bool
    reason: Reason

    def as_dict(self) -> dict[str, Any]:
        """Return the check as plain data."""
        return {"id": self.reason["id"], "passed": self.passed, "reason": self.reason}


def enqueued(session: Session, job: JobInfo) -> Check:
    """Return whether actions consider a job."""
    name = "check.enqueued"
    if job.is_pending:
        return Check(False, reason(name, "The job is not enqueued, so no action considers it."))
    failure = session.plugins.job_valid(job)
    if failure is not None:
        return Check(False, reason(name, f"The job is not valid: {failure[1]}."))
    return Check(True, reason(name, "The job is enqueued."))


def starves(session: Session, job: JobInfo) -> Check:
    """Return whether a job counts as starving, with its pods by status."""
    starving = session.plugins.job_starving(job)
    numbers = {
        "minAvailable": job.min_available,
        "ready": job.ready_count,
        "promised": job.waiting_count,
        "pods": job.size,
    }
    numbers_text = (
        f"{job.ready_count} placed and {job.waiting_count} pipelined of {job.size}, "
        f"{job.min_available} needed"
    )
    state = "starves" if starving else "does not count as starving"
    return Check(starving, reason("check.starving", f"The job {state}: {numbers_text}.", numbers))


def queue_may_evict(session: Session, queue: QueueInfo, tasks: Sequence[TaskInfo], purpose: str) -> Check:
    """Return whether a queue may reclaim from others for some tasks; `purpose` names them in the sentence."""
    name = "check.may-evict"
    if session.plugins.overused(queue):
        return Check(False, reason(name, f"Queue {queue.name} is overused: it has all that it deserves."))
    refusal = session.plugins.preemptive(queue, tasks)
    if refusal is not None:
        numbers: dict[str, Any] = {
            key: refusal[key] for key in ("queue", "plugin", "short") if key in refusal
        }
        return Check(
            False, reason(name, f"Queue {queue.name} may not reclaim: {refusal['message']}.", numbers)
        )
    return Check(True, reason(name, f"Queue {queue.name} may reclaim for {purpose}."))


def candidates_found(count: int, nodes: int) -> Check:
    """Return the number of candidates before any plugin votes."""
    text = f"{counted(count, 'candidate')} on {counted(nodes, 'node')}."
    return Check(count > 0, reason("check.candidates", text, {"candidates": count, "nodes": nodes}))


def made_room(pods: int, victims: int) -> Check:
    """Return for how many pods of the job there is room, and the number of evictions for that."""
    text = f"Evicting {counted(victims, 'pod')} makes room for {counted(pods, 'pod')} of the job."
    if not victims:
        text = f"{counted(pods, 'pod')} of the job {agreed(pods, 'finds', 'find')} room without an eviction."
    return Check(True, reason("check.fit", text, {"pods": pods, "victims": victims}))


def counts_text(why: Counter[str]) -> str:
    """Return the number of pods that are not candidates, by reason, as one phrase."""
    return ", ".join(f"{count:,} {text}" for text, count in sorted(why.items())) or "they are empty"


class NodeVotes(NamedTuple):
    """The candidates on one node (for a gang action: on all nodes) and the plugins' votes on them."""

    candidates: Sequence[TaskInfo]
    votes: RecordedVotes
    node: int = NO_NODE

    def refusals(self) -> Iterator[Refusal]:
        """Yield the refused candidates, each with the vote that refuses it."""
        return self.votes.refusals(self.candidates)


def votes(nodes: Sequence[NodeVotes]) -> Check:
    """Return how many candidates may be evicted, which tier decided, and which plugins refuse the rest."""
    allowed = sum(len(one.votes.victims) for one in nodes)
    candidates = sum(len(one.candidates) for one in nodes)
    refused = Counter(refusal.plugin for one in nodes for refusal in one.refusals())
    numbers = {"allowed": allowed, "candidates": candidates, "refused": dict(sorted(refused.items()))}
    alike: dict[str, list[NodeVotes]] = {}
    for one in nodes:
        alike.setdefault(passed_over(one.votes.ballots_as_data()), []).append(one)
    ways = [way for way in (_way(before, alike) for before in sorted(alike)) if way]
    how = f": {'; '.join(ways)}" if ways else ""
    text = f"{_allowed_text(allowed, candidates)}{how}."
    return Check(allowed > 0, reason("check.votes", text, numbers))


def _allowed_text(count: int, candidates: int) -> str:
    if candidates == 1:
        return f"The only candidate may{'' if count else ' not'} be evicted"
    if count == candidates:
        return f"All {candidates} candidates may be evicted"
    part = f"{count} of" if count else "None of the"
    return f"{part} {candidates} candidates may be evicted"


def _way(before: str, alike: Mapping[str, Sequence[NodeVotes]]) -> str:
    """Return how nodes with the same passed-over tiers were decided; empty if all candidates are accepted."""
    nodes = alike[before]
    text = "; ".join(filter(None, [before, _refused(nodes)]))
    return f"on {counted(len(nodes), 'node')} {text}" if text and len(alike) > 1 else text


def _refused(nodes: Sequence[NodeVotes]) -> str:
    """Return how many candidates each plugin refuses, with its most frequent reasons."""
    if any(one.candidates and not one.votes.ballots for one in nodes):
        return "no plugin votes on victims"
    refused = Counter((refusal.plugin, refusal.text) for one in nodes for refusal in one.refusals())
    by_plugin: dict[str, list[tuple[int, str]]] = {}
    for (plugin, text), count in refused.items():
        by_plugin.setdefault(plugin, []).append((-count, text or "without a reason"))
    return ", ".join(
        f"{plugin} refuses {-sum(count for count, _ in why)} ({_most_frequent(sorted(why))})"
        for plugin, why in sorted(by_plugin.items())
    )


def _most_frequent(why: Sequence[tuple[int, str]]) -> str:
    texts = [text for _, text in why[:_MOST_REASONS]]
    rest = len(why) - len(texts)
    return "; ".join([*texts, *([counted(rest, "other reason")] if rest else [])])
