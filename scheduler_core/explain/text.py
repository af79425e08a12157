"""Stories as text for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from scheduler_core.explain.checklist import reclaim_checklist
from scheduler_core.explain.loop_search import searched
from scheduler_core.explain.stories import job_story, node_story, pod_story, queue_story, waiting_jobs
from scheduler_core.explain.trials import Limits, Simulate
from scheduler_core.explain.unblocking import unblocking
from scheduler_core.explain.wording import counted, quantities
from scheduler_core.units import amount_text

Story = Mapping[str, Any]


class Selection(NamedTuple):
    """The names of each kind to show; without any name, every waiting job.

    Attributes
    ----------
    cycle : int or None
        The number of a cycle; None: the last one.
    unblock : bool
        Whether to search for changes that let each job run.
    limits : Limits
        How long to search for each job.

    """

    queues: Sequence[str] = ()
    pods: Sequence[str] = ()
    nodes: Sequence[str] = ()
    jobs: Sequence[str] = ()
    cycle: int | None = None
    unblock: bool = False
    limits: Limits = Limits()


def lines(selection: Selection, document: Story, result: Story, simulate: Simulate) -> Iterator[str]:
    """Yield the lines of the requested stories, those of eviction loops first."""
    queues, pods, nodes, jobs, cycle, unblock, limits = selection
    for loop in searched(document, result, simulate):
        yield from loop_lines(loop)
    for queue in queues:
        yield from queue_lines(queue_story(document, result, queue, cycle=cycle))
    for pod in pods:
        yield from pod_lines(pod_story(document, result, pod, cycle=cycle))
    for node in nodes:
        yield from node_lines(node_story(document, result, node, cycle=cycle))
    named = queues or pods or nodes or jobs
    for job in jobs if named else waiting_jobs(document, result, cycle=cycle):
        story = job_story(document, result, job, cycle=cycle)
        yield from job_lines(story)
        if story.get("pending") is not None:
            yield from checklist_lines(reclaim_checklist(document, result, job, cycle=cycle))
        if unblock and "pending" in story:
            yield from unblocking_lines(unblocking(document, job, simulate, limits))


def loop_lines(story: Story) -> Iterator[str]:
    """Yield the lines on an eviction loop: the loop, why it does not end, and what ends it."""
    yield _sentence(story)
    yield from _block("Why it never ends", (entry["sentence"] for entry in story["why"]))
    changes = [change["reason"]["sentence"] for change in story["changes"]]
    yield from _block("What ends it", iter(changes or ["No single change was found that ends it."]))
    yield ""


def job_lines(story: Story) -> Iterator[str]:
    """Yield a job's story."""
    yield f"Job {story['job']} of queue {story['queue']}"
    pending = story.get("pending")
    if pending is None or _sentence(pending) != _sentence(story):
        yield f"  {_sentence(story)}"
    if "members" not in story:
        return
    members = story["members"]
    yield (
        f"  {members['minimum']} needed, {members['placed']} placed, {members['promised']} pipelined, "
        f"{members['pending']} pending; priority {story['priority']}; "
        f"phase {story['phase_before'] or 'none'} -> {story['phase_after'] or 'none'}"
    )
    if pending is not None:
        yield ""
        yield f"Why it waits: {_sentence(pending)}{_by(pending['plugin'])}"
        yield from _amounts(pending)
    yield from _block("Evicted for it", map(_eviction, story["victims_for"]))
    yield from _block("Its own pods that were evicted", map(_eviction, story["lost"]))
    yield from _block("Decisions", map(_step, story["steps"]))


def queue_lines(story: Story) -> Iterator[str]:
    """Yield a queue's story."""
    yield f"Queue {story['queue']}"
    yield f"  {story['deserved']['summary']['sentence']}"
    if story["deserved"]["tree_summary"] is not None:
        yield f"  {story['deserved']['tree_summary']['sentence']}"
    for title, figures in (("at open", story["at_open"]), ("at end", story["at_end"])):
        if figures is not None:
            yield f"  {title}: allocated {quantities(figures['allocated'])}, share {figures['share']:.4g}"
    yield from _block("How it came to what it deserves", _derivation(story["deserved"]["steps"]))
    yield from _block("Evicted for its jobs", (link["reason"]["sentence"] for link in story["given"]))
    yield from _block("Evicted from it", (link["reason"]["sentence"] for link in story["taken"]))
    yield from _block("Jobs", (entry["reason"]["sentence"] for entry in story["jobs"]))


def pod_lines(story: Story) -> Iterator[str]:
    """Yield a pod's story, and why it was evicted if it was."""
    yield f"Pod {story['pod']} of job {story['job'] or 'none'}, queue {story['queue'] or 'none'}"
    yield f"  {_sentence(story)}"
    yield f"  requests {quantities(story['request'])}"
    for victim in story["evictions"]:
        yield from victim_lines(victim)
    yield from _block("Evicted for it", map(_eviction, story["victims_for"]))
    yield from _block("Decisions", map(_step, story["steps"]))


def victim_lines(story: Story) -> Iterator[str]:
    """Yield why a victim was chosen."""
    yield ""
    yield f"Evicted in cycle {story['cycle']}, step {story['step']}"
    yield f"  {_sentence(story)}"
    yield f"  {story['order']['reason']['sentence']}"
    yield f"  {story['smallest']['reason']['sentence']}"
    yield f"  {story['surplus_reason']['sentence']}"
    if story["passed_over"] is not None:
        yield f"  {story['passed_over']['sentence']}"
    yield from _block(
        "Votes",
        (
            f"tier {vote['tier']}: {vote['verdict']}{'' if vote['counts'] else ' (does not count)'}: "
            f"{vote['reason']['sentence']}{_numbers(vote['reason'])}"
            for vote in story["votes"]
        ),
    )
    yield from _block(
        "Candidates that stayed",
        (f"{entry['pod']}: {entry['reason']['sentence']}" for entry in story["spared"]),
    )
    if story["left_out"] is not None:
        yield f"  {story['left_out']['sentence']}"


def node_lines(story: Story) -> Iterator[str]:
    """Yield a node's story."""
    yield f"Node {story['node']}"
    yield f"  {_sentence(story)}"
    yield from _block("Pods", (f"{entry['pod']} ({entry['status']})" for entry in story["pods"]))
    yield from _block("Decisions", map(_step, story["steps"]))


def checklist_lines(lists: Sequence[Story]) -> Iterator[str]:
    """Yield why reclaim and preempt did nothing for a job."""
    for entry in lists:
        for story in entry["actions"]:
            yield from _block(f"Could {story['action']} help job {entry['job']}?", _checks(story))


def _checks(story: Story) -> Iterator[str]:
    for check in story["checks"]:
        yield f"[{'x' if check['passed'] else ' '}] {check['reason']['sentence']}"
    evicted = story["evicted"]
    purpose = f"evicted {counted(evicted, 'pod')} for it" if evicted else "evicted no pod for it"
    yield f"So {story['action']} {purpose}: {story['conclusion']['sentence']}"


def unblocking_lines(story: Story) -> Iterator[str]:
    """Yield the changes that would let a job run."""
    if not story["waits"]:
        yield ""
        yield f"Job {story['job']} has, or is pipelined to, what it needs."
        return
    changes = [change["reason"]["sentence"] for change in story["changes"]]
    yield from _block(
        f"What would let it run ({counted(story['simulations'], 'simulation')})",
        iter(changes or ["No change was found that lets it run."]),
    )
    yield from _block("What does not help", (entry["sentence"] for entry in story["not_enough"]))
    if story["stopped"] is not None:
        yield f"  {story['stopped']['sentence']}"


def _sentence(story: Story) -> str:
    sentence: str = story["reason"]["sentence"]
    return sentence


def _block(title: str, lines: Iterator[str]) -> Iterator[str]:
    """Yield a titled list, nothing if it is empty."""
    for position, line in enumerate(lines):
        if position == 0:
            yield ""
            yield title
        yield f"  {line}"


def _amounts(pending: Story) -> Iterator[str]:
    for resource, facts in pending["short"].items():
        parts = [
            f"{name} {amount_text(resource, facts[name])}" for name in ("required", "available", "missing")
        ]
        yield f"  {resource}: {', '.join(parts)}"
    for refusal in pending["nodes"]:
        yield f"  {_sentence(refusal)}"


def _by(plugin: str) -> str:
    return f" (plugin {plugin})" if plugin else ""


def _eviction(entry: Story) -> str:
    purpose = entry["for"] or entry["for_job"]
    return (
        f"cycle {entry['cycle']}, step {entry['step']}: {entry['action']} evicted {entry['pod']} of queue "
        f"{entry['queue']} from {entry['node']} for {purpose} of queue {entry['for_queue']} "
        f"({entry['state']})"
    )


def _step(entry: Story) -> str:
    about = [entry.get("pod") or entry["job"]]
    about += [f"on {entry['node']}"] if entry.get("node") else []
    about += [f"for {entry['for']}"] if entry.get("for") else []
    about += [f"({entry['reason']})"] if entry.get("reason") else []
    return f"cycle {entry['cycle']}, step {entry['step']}: {entry['action']}: {entry['op']} {' '.join(about)}"


def _derivation(steps: Sequence[Story]) -> Iterator[str]:
    for step in steps:
        clipped = ", ".join(f"{resource} by {limit}" for resource, limit in step["clipped_by"].items())
        end = f"; clipped: {clipped}" if clipped else ""
        if "round" in step:
            yield (
                f"round {step['round']}: {quantities(step['remaining'])} to divide, "
                f"weight {step['weight']:g} of {step['weight_sum']:g} offers {quantities(step['offered'])}, "
                f"deserved is then {quantities(step['deserved'])}{end}"
            )
        else:
            yield (
                f"level {step['level']}, {step['queue']}: states {quantities(step['stated'])}, can reach "
                f"{quantities(step['realCapability'])}, deserves {quantities(step['deserved'])}{end}"
            )


def _numbers(story: Story) -> str:
    parts = []
    for name, value in story["numbers"].items():
        if isinstance(value, Mapping):
            parts.append(f"{name} {quantities(value)}")
        elif isinstance(value, float):
            parts.append(f"{name} {value:.4g}")
        else:
            parts.append(f"{name} {value}")
    return f" ({', '.join(parts)})" if parts else ""
