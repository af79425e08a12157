"""Flow of evictions between queues."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from scheduler_core.explain.cycle_view import Amounts, CycleView, Object
from scheduler_core.explain.enough import total
from scheduler_core.explain.reasons import reason
from scheduler_core.explain.victims import evictions
from scheduler_core.explain.wording import counted, quantities, times
from scheduler_core.rendering import plain


class Eviction(NamedTuple):
    """One eviction of a pod."""

    pod: str
    state: str
    freed: Amounts


def flow(document: Object, result: Object, *, cycle: int | None = None) -> list[dict[str, Any]]:
    """Return the evictions from queue to queue, the largest number of pods first.

    Returns
    -------
    list of dict
        `from`, `to`, `action`, `pods`, `evictions`, `amounts` and a reason; over all cycles unless one is
        given. A pod that is evicted in several cycles counts once in `pods` and `amounts`, each time in
        `evictions`. Only evictions that took place count; `kept` are pods whose eviction was neither
        committed nor undone.

    """
    moved: dict[tuple[str, str, str], list[Eviction]] = {}
    for number in [cycle] if cycle is not None else range(1, len(result.get("cycles") or ()) + 1):
        view = CycleView(document, result, number)
        for entry in evictions(view):
            for_job = entry.get("for_job") or view.job_of.get(entry["for"], "")
            link = entry["queue"], view.queue_of_job(for_job), entry["action"]
            moved.setdefault(link, []).append(Eviction(entry["pod"], entry["state"], entry["freed"]))
    links = [_link(*link, evicted) for link, evicted in moved.items()]
    return sorted(links, key=lambda link: (-link["pods"], link["from"], link["to"], link["action"]))


def _link(giver: str, taker: str, action: str, evictions: Sequence[Eviction]) -> dict[str, Any]:
    happened = [eviction for eviction in evictions if eviction.state == "committed"]
    freed = {eviction.pod: eviction.freed for eviction in happened}
    amounts = total(freed.values())
    pods = len(freed)
    often = f" {times(len(happened))} in all" if len(happened) > pods else ""
    text = (
        f"Action {action} evicted {counted(pods, 'pod')} of queue {giver}"
        f"{f' for queue {taker}' if taker else ', for no other queue'}{often}: {quantities(amounts)}."
    )
    numbers = {"pods": pods, "evictions": len(happened), "amounts": amounts}
    return {
        "from": giver,
        "to": taker,
        "action": action,
        "pods": pods,
        "evictions": len(happened),
        "kept": len({eviction.pod for eviction in evictions if eviction.state == "kept"}),
        "amounts": plain(amounts),
        "reason": reason("flow.moved", text, numbers),
    }
