"""The numbers of a reason as text, each with its unit.

>>> number_text("ready", 4), number_text("share", 0.25), number_text("cooldown_seconds_left", 12)
('4 pods', '25 %', '12 s')
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from django import template
from django.utils.html import format_html_join

from planner.web.templatetags.quantities import (
    counted,
    percent,
    plain,
    resource_order,
)
from planning.amounts import read_amounts
from planning.rows import Amounts, DerivationStep, VictimStory, Vote
from planning.units import amount_texts, written

register = template.Library()

LABELS = {
    "ready": "pods of its job that run or are about to",
    "minAvailable": "minMember of its job",
    "priority": "its priority",
    "share": "share of its job without it",
    "preemptor": "the preemptor's",
    "share_per_weight": "share per weight of the reclaimer's queue",
    "victim": "share per weight of its queue without it",
    "left": "left in its queue",
    "allocated": "its queue holds",
    "deserved": "its queue deserves",
    "cooldown_seconds_left": "cool-down left",
    "disruptionsAllowed": "disruptions allowed",
    "at_once": "disruptions allowed at once",
}
_PODS = ("ready", "minAvailable", "disruptionsAllowed", "at_once")
_SHARES = ("share", "preemptor", "share_per_weight", "victim")


@register.filter
def numbers(answer: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return the numbers of a reason as label and text.

    >>> numbers({"queue": "a", "resource": "cpu", "allocated": 6000, "deserved": 4000})
    [('its queue holds', '6 cores'), ('its queue deserves', '4 cores')]
    """
    resource = answer.get("resource")
    inside = answer.get("priority") is not None
    return [
        (LABELS.get(name, name), number_text("priority" if inside else name, value, resource))
        for name, value in answer.items()
        if name not in ("queue", "resource")
    ]


def number_text(name: str, value: Any, resource: str | None = None) -> str:
    """Return one number with its unit; `resource` is that of an amount."""
    if isinstance(value, Mapping):
        return ", ".join(_texts(value, resource_order(value))) or "nothing"
    if not isinstance(value, (int, float)):
        return str(value)
    if resource is not None:
        return plain(value, resource)
    if name in _PODS:
        return counted(int(value), "pod")
    if name in _SHARES:
        return percent(value)
    return f"{value:g} s" if name == "cooldown_seconds_left" else written(value)


def _texts(amounts: Amounts, names: Sequence[str]) -> list[str]:
    """Return the amounts of these resources; None has no limit."""
    held = ((name, amounts[name]) for name in names)
    return amount_texts({name: math.inf if amount is None else amount for name, amount in held}, names)


@register.filter
def said_as(amount: float, resource: str) -> str:
    """Return an amount of a resource with its unit."""
    return plain(amount, resource)


@register.filter
def amounts_text(amounts: Amounts) -> str:
    """Return amounts in one phrase; the single place of a pod is left out.

    >>> amounts_text({"cpu": 2000.0, "memory": 2.0**30, "pods": 1.0})
    '2 cores and 1 GiB'
    """
    parts = _texts(amounts, [name for name in resource_order(amounts) if name != "pods" and amounts[name]])
    return " and ".join(filter(None, [", ".join(parts[:-1]), *parts[-1:]])) or "nothing"


@register.filter
def quantities_text(quantities: Mapping[str, str]) -> str:
    """Return the amounts of a field, a dash for none; a quantity that cannot be read is quoted.

    >>> quantities_text({"cpu": "1500m", "memory": "lots"})
    '<span class="nowrap">1.5 cores</span>, <span class="nowrap">memory lots</span>'
    """
    known = read_amounts(quantities)
    unread = (f"{name} {text}" for name, text in quantities.items() if name not in known)
    texts = [*_texts(known, resource_order(known)), *unread]
    return format_html_join(", ", '<span class="nowrap">{}</span>', ((text,) for text in texts)) or "–"


@register.filter
def what_happened(step: Any) -> str:
    """Return a decision as a sentence without its end."""
    words: dict[str, str] = {
        "enqueue": f"{step.job} is enqueued",
        "enqueue_reject": f"{step.job} is not enqueued",
        "allocate": f"{step.pod} is allocated to {step.node}, not committed yet",
        "bind": f"{step.pod} is bound to {step.node}",
        "pipeline": f"{step.pod} is pipelined to {step.node}",
        "unpipeline": f"{step.pod} is no longer pipelined to {step.node}",
        "evict": f"{step.pod} is chosen for eviction from {step.node}",
    }
    return words.get(step.op, str(step.op))


@register.filter
def what_it_does(action: str) -> str:
    """Return the purpose of an action that evicts."""
    return ACTIONS.get(action, "it evicts running pods.")


@register.filter
def permits(story: VictimStory) -> list[Vote]:
    """Return the votes that made a pod a victim."""
    return [
        vote
        for vote in story.votes
        if vote.tier == story.tier and vote.verdict == "permit" and vote.counts is not False
    ]


@register.filter
def vote_text(verdict: str) -> str:
    """Return the consequence of a vote for the pod.

    >>> vote_text("permit"), vote_text("refuse"), vote_text("abstain")
    ('evict', 'keep', 'abstain')
    """
    return {"permit": "evict", "refuse": "keep"}.get(verdict, verdict)


@register.filter
def without(sentence: str, plugin: str) -> str:
    """Return a plugin's sentence without the plugin's name.

    >>> without("gang: it has no opinion", "gang")
    'it has no opinion'
    """
    return sentence.removeprefix(f"{plugin}: ")


@register.filter
def run_time(seconds: float) -> str:
    """Return the run time of a pod, in its two largest units.

    >>> run_time(42), run_time(7500), run_time(200000)
    ('42 s', '2 h 5 min', '2 d 7 h')
    """
    rest, parts = int(seconds), []
    for size, unit in ((86_400, "d"), (3600, "h"), (60, "min"), (1, "s")):
        number, rest = divmod(rest, size)
        if number:
            parts.append(f"{number} {unit}")
    return " ".join(parts[:2]) or "0 s"


ACTIONS = {
    "reclaim": "it evicts pods of other queues so that a queue gets what it deserves.",
    "preempt": "it evicts pods of the same queue to make room for a job that may preempt them.",
    "gangreclaim": "it evicts pods of other queues to make room for a whole gang, or evicts none.",
    "gangpreempt": "it evicts pods of the same queue to make room for a whole gang, or evicts none.",
    "shuffle": "it evicts pods that a plugin wants placed elsewhere.",
}


LIMITS = {
    "request": "request",
    "realCapability": "real capability",
    "guarantee": "guarantee",
}


@register.filter
def limit_text(limit: str | None) -> str:
    """Return what limited an offer; empty if nothing did."""
    return LIMITS.get(limit, limit) if limit else "–"


@register.filter
def resources_of(step: DerivationStep) -> list[str]:
    """Return the resources of a step of a derivation."""
    return resource_order({name for amounts in step.amounts.values() for name in amounts})


@register.filter
def why_waiting(job: Any) -> str:
    """Show why a job waits: its first gate, otherwise the scheduler's message in its PodGroup."""
    if not job.waits:
        freed = job.task_status.get("Pipelined")
        return "Pipelined: its pods start when the resources being released are free." if freed else ""
    if not job.gate and job.phase_after == "Pending":
        return "Not enqueued: the PodGroup stays Pending, so no pod was considered."
    return str(job.message)
