"""One-sentence summaries of the state of a job, a pod or a node."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from scheduler_core.explain.cycle_view import Object
from scheduler_core.explain.pending import members, promised
from scheduler_core.explain.reasons import Reason, reason
from scheduler_core.explain.wording import agreed, counted, listed, quantities


def job_standing(entry: Object, pending: Mapping[str, Any] | None) -> Reason:
    """Return a job's state at the end of a cycle; `pending` is its diagnosis, None if nothing waits."""
    counts = members(entry)
    finished = entry["task_status"].get("Succeeded", 0)
    also = f", {finished} finished" if finished else ""
    if pending is None:
        leaving = entry["task_status"].get("Releasing", 0)
        if leaving:
            placed = counts["placed"] - finished
            text = (
                f"{counted(leaving, 'pod')} of job {entry['name']} {agreed(leaving, 'is', 'are')} "
                f"terminating, {placed} {agreed(placed, 'stays', 'stay')} placed."
            )
            return reason("job.losing", text, {**counts, "leaving": leaving})
        if not any(entry["task_status"].get(status) for status in ("Binding", "Bound", "Running")):
            return reason("job.finished", f"Nothing of job {entry['name']} runs or waits.", counts)
        return reason(
            "job.placed",
            f"{counted(counts['placed'] - finished, 'pod')} of job {entry['name']} placed{also}, none waits.",
            counts,
        )
    if counts["promised"] and not counts["pending"]:
        return promised(entry)
    if entry["session_job_pipelined"] and counts["promised"]:
        text = f"{promised(entry)['sentence'].rstrip('.')}; {_waiting(counts)}: "
        return reason("job.partly", text + _lower(pending["reason"]["sentence"]), counts)
    if entry["session_job_ready"] and counts["placed"] and counts["pending"]:
        enough = counts["placed"] >= counts["minimum"]
        needs = (
            f"it needs {counts['minimum']}" if enough else f"although its minMember is {counts['minimum']}"
        )
        size, running = sum(entry["task_status"].values()), counts["placed"] - finished
        text = (
            f"Job {entry['name']} runs with {running} of its {size} pods{also} ({needs}); "
            f"{_waiting(counts)}: "
        )
        return reason("job.partly", text + _lower(pending["reason"]["sentence"]), counts)
    why: Reason = pending["reason"]
    return why


def _waiting(counts: dict[str, int]) -> str:
    return f"{counted(counts['pending'], 'pod')} {agreed(counts['pending'], 'waits', 'wait')}"


class PodOutcome(NamedTuple):
    """The node or the waiting reason of a job's pod at the end of a cycle.

    Attributes
    ----------
    node : str
        Its node, empty if it has none.
    why : str
        Why it waits.

    """

    status: str
    node: str
    why: str


def pod_standing(pod: str, stands: PodOutcome | None, steps: Sequence[Mapping[str, Any]]) -> Reason:
    """Return a pod's state at the end of a cycle; `stands` is None if it no longer belongs to a job.

    `steps` are the decisions about the pod up to then, and those that evicted others for it.
    """
    last = next((step for step in reversed(steps) if step.get("pod") == pod), None)
    if stands is None:
        if last is None:
            return reason("pod.other", f"Pod {pod} belongs to no job, so nothing is decided about it.")
        return _decided(pod, last, steps)
    if stands.status == "Pending":
        why = f": {_lower(stands.why)}" if stands.why else "."
        return reason("pod.waits", f"Pod {pod} waits{why}")
    if last is None:
        where = f"node {stands.node}" if stands.node else "no node"
        return reason("pod.runs", f"Nothing was decided about pod {pod}, which is on {where}.")
    if stands.status == "Pipelined":
        before = [step["pod"] for step in steps if step.get("for") == pod and step["cycle"] == last["cycle"]]
        until = (
            f"once {listed(before)} {agreed(len(before), 'is', 'are')} gone" if before else "once it has room"
        )
        return reason(
            "pod.promised", f"Pod {pod} is pipelined to node {stands.node}: it starts there {until}."
        )
    return _decided(pod, last, steps)


def _decided(pod: str, last: Mapping[str, Any], steps: Sequence[Mapping[str, Any]]) -> Reason:
    """Return the effect of the last decision on a pod."""
    purpose = f" for {last['for']}" if last.get("for") else ""
    if last["state"] != "committed":
        if last["op"] == "evict":
            text = (
                f"Pod {pod} on node {last['node']} was selected by {last['action']}{purpose}, "
                "but was not evicted."
            )
        else:
            text = (
                f"Pod {pod} was assigned to node {last['node']} by {last['action']}, "
                "but that was not carried out."
            )
        return reason("pod.kept", text)
    if last["op"] == "evict":
        evicted = sum(
            (step["op"], step["state"], step.get("pod")) == ("evict", "committed", pod) for step in steps
        )
        often = f", the last of {evicted} evictions" if evicted > 1 else ""
        return reason(
            "pod.evicted",
            f"Pod {pod} was evicted from node {last['node']} by {last['action']}{purpose}{often}.",
        )
    return reason("pod.placed", f"Pod {pod} was bound to node {last['node']} by {last['action']}.")


def node_standing(node: str, idle: Object, releasing: Object, counts: dict[str, int]) -> Reason:
    """Return the free amounts of a node, and how many pods were bound and evicted, and are pipelined."""
    text = (
        f"Node {node} has {quantities(idle)} idle and {quantities(releasing)} being released; "
        f"{counted(counts['bind'], 'pod')} bound, {counts['pipeline']} pipelined, {counts['evict']} evicted."
    )
    return reason("node.state", text, {**counts, "idle": idle})


def _lower(sentence: str) -> str:
    return sentence[:1].lower() + sentence[1:]
