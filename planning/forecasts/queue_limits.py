"""Jobs that need more than their queue may ever have."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from planning.forecasts.steps import Steps
from planning.units import amount_text
from scheduler_core.conf import parse_conf
from scheduler_core.lint.tiers import QUOTAS
from scheduler_core.model.pod import PodShape
from scheduler_core.resource import MIN_RESOURCE

Json = Mapping[str, Any]


def highest_limits(document: Json, limits: Mapping[str, Mapping[str, Steps]]) -> dict[str, dict[str, float]]:
    """Return the largest capability that each queue ever has, by resource; empty where none keeps pods out.

    Parameters
    ----------
    document : mapping
        The document of a replay whose configuration never changes.
    limits : mapping
        The capabilities of queues over time, see `planning.forecasts.limits.capabilities_of`.

    """
    options = [one for one in parse_conf(document.get("scheduler_conf")).options() if one.name in QUOTAS]
    if not any(option.enabled("enabledAllocatable") for option in options):
        return {}
    return {
        queue: {resource: float(steps.values.max()) for resource, steps in of_queue.items()}
        for queue, of_queue in limits.items()
    }


def above_limit(
    counts: Counter[int], least: int, limits: Mapping[str, float], shapes: Mapping[int, PodShape]
) -> str:
    """Return what a job needs and its queue may have of the first resource that keeps it out; else nothing.

    Parameters
    ----------
    counts : counter
        How many pods of each shape the job has; those of other numbers need nothing.
    least : int
        How many of them must run together; the smallest ones count.
    limits : mapping
        What the queue may have, by resource.
    shapes : mapping
        The shapes by number.

    """
    for resource, most in sorted(limits.items()):
        requests = sorted(
            (shapes[number].request.get(resource) if number in shapes else 0.0, count)
            for number, count in counts.items()
        )
        needed, members = 0.0, least
        for request, count in requests:
            needed += request * min(count, members)
            members -= min(count, members)
        if needed > most + MIN_RESOURCE:
            return f"{amount_text(resource, needed)} of at most {amount_text(resource, most)}."
    return ""
