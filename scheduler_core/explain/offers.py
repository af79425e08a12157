"""Order and wording of the changes that let a job run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from scheduler_core.explain.effects import Outcome
from scheduler_core.explain.extent import extent
from scheduler_core.explain.remedies import Remedy
from scheduler_core.explain.wording import listed

MOST_TRIED = 3
PIPELINED = "pipelined"
"""When a job runs that is pipelined, but that later sessions do not bind."""
# The kinds of changes, in the order in which those of equal cost are offered.
KINDS: Mapping[str, str] = {
    "unblock.gates": "removal of scheduling gates",
    "unblock.state": "opened queue",
    "unblock.placement": "constraint removed",
    "unblock.capability": "capability",
    "unblock.reclaimable": "reclaimable queue",
    "unblock.weight": "weight",
    "unblock.guarantee": "guarantee",
    "unblock.deserved": "deserved amount",
    "unblock.request": "smaller request",
    "unblock.members": "smaller minMember",
    "unblock.roles": "smaller minimum of a role",
    "unblock.priority": "priority",
    "unblock.actions": "change of actions",
    "unblock.switches": "plugin switch",
    "unblock.tiers": "move of a plugin to another tier",
    "unblock.nodes": "number of nodes",
    "unblock.larger-node": "larger node",
    "unblock.pair": "pair of changes",
}
_MERGED = ("unblock.actions", "unblock.switches", "unblock.tiers", "unblock.nodes")
_EFFECT = ("id", "runs", "members", "evicted", "spared", "repeated", "changed")
_RANKS = {name: rank for rank, name in enumerate(KINDS)}


def order_of(offer: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return the sort key of an offer: whether the job runs, then its cost, then its extent."""
    return (
        offer["runs"] == PIPELINED,
        offer["cost"],
        extent(offer["changes"]),
        len(offer["changed"]),
        _RANKS[offer["id"]],
        offer["reason"]["sentence"],
    )


def when_it_runs(outcome: Outcome, job: str) -> str:
    """Return when a job runs that later sessions bind; pipelined pods wait until others leave their nodes."""
    nodes = set(outcome.jobs[job].promised.values())
    if not nodes:
        return "at once"
    if outcome.vacated & nodes:
        return "after evictions"
    return "after terminations" if outcome.releasing & nodes else "in a later session"


def merged_equals(offers: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return offers without changes of the configuration or more nodes with the effect of an earlier one.

    The earlier offer's sentence names the omitted changes.
    """
    kept: dict[Any, dict[str, Any]] = {}
    others: dict[Any, list[str]] = {}
    for number, offer in enumerate(offers):
        effect: Any = number
        if offer["id"] in _MERGED:
            effect = repr([offer[name] for name in _EFFECT])
        if effect in kept:
            others.setdefault(effect, []).append(offer["reason"]["numbers"]["change"])
        else:
            kept[effect] = dict(offer)
    for effect, changes in others.items():
        reason = kept[effect]["reason"]
        either = capitalised(listed(changes, "or"))
        sentence = f"{reason['sentence']} {either} would have the same effect."
        kept[effect]["reason"] = {**reason, "sentence": sentence}
    return list(kept.values())


def refused_text(change: str, refused: Sequence[str]) -> str:
    """Return the sentence that a change would help if the webhook accepted it."""
    return f"{capitalised(change)} would let the job run, but Volcano's webhook refuses it: {refused[0]}."


def gaps_text(remedy: Remedy, sizes: Sequence[int]) -> str:
    """Return the sentence that some larger sizes do not help, empty if there are none."""
    if not sizes:
        return ""
    shown = listed(remedy.tried((size,)) for size in sizes[:MOST_TRIED])
    return (
        f" More is not always better: {shown} {'was' if len(sizes) == 1 else 'were'} tried and did not help."
    )


def capitalised(sentence: str) -> str:
    """Capitalise a sentence, unless it begins with a name that has capitals, such as minMember."""
    first = sentence.partition(" ")[0]
    return sentence if first != first.lower() else sentence[:1].upper() + sentence[1:]
