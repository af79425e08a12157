"""Why no step reaches an amount, in a sentence."""

from collections.abc import Mapping
from typing import Any

from planning.amounts import limited_amounts
from planning.reach.questions import SHARE, Question
from planning.units import amount_text

Json = Mapping[str, Any]


def queue_limit(question: Question, entry: Json, plugin: str) -> str:
    """Return what bounds a queue's figure, empty if nothing that the plugin knows does.

    `entry` has the queue's amounts when a session opens, `plugin` divides the cluster.
    """
    if question.figure == SHARE:
        return _share_limit(question, entry)
    name, resource, amount = question.queue, question.resource, question.amount
    amounts = {part: limited_amounts(entry.get(part)).get(resource, 0.0) for part in _PARTS}
    request, reachable, guarantee, deserved = (amounts[part] for part in _PARTS)
    if not question.is_least:
        if guarantee and guarantee > amount:
            return f"Queue {name} deserves at least its guarantee: {amount_text(resource, guarantee)}."
        return ""
    if plugin == "proportion" and request is not None and request < amount:
        return (
            f"Plugin proportion divides only what queues request: queue {name} requests "
            f"{amount_text(resource, request)}, and only a larger guarantee makes it deserve more."
        )
    # A guarantee above it is deserved nevertheless.
    if reachable is not None and (deserved or 0.0) <= reachable < amount:
        return f"Queue {name} deserves no more than its real capability: {amount_text(resource, reachable)}."
    return ""


_PARTS = ("request", "realCapability", "guarantee", "deserved")


def _share_limit(question: Question, entry: Json) -> str:
    """Return why a share cannot be raised: it is allocated ÷ deserved."""
    if question.is_least and not any(limited_amounts(entry.get("allocated")).values()):
        return f"Queue {question.queue} has nothing allocated, so its share is 0 whatever it deserves."
    return ""
