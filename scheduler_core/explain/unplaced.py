"""Reasons why no node accepts a pod, and the node that comes closest."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from scheduler_core.explain.reasons import Reason, reason
from scheduler_core.explain.wording import counted, listed, quantities
from scheduler_core.units import amount_text, named

# The prefixes of nodes' messages.
_REFUSALS = (
    ("Insufficient ", "node.insufficient"),
    ("node(s) didn't match Pod's node affinity", "node.affinity"),
    ("node(s) didn't match pod affinity", "node.pod-affinity"),
    ("node(s) didn't match pod anti-affinity", "node.pod-affinity"),
    ("node(s) didn't satisfy existing pods anti-affinity", "node.pod-affinity"),
    ("node(s) had untolerated taint", "node.taint"),
    ("node(s) were unschedulable", "node.unschedulable"),
    ("node(s) didn't have free ports", "node.ports"),
    ("node(s) didn't match pod topology spread", "node.spread"),
    ("node(s) pod number exceeded", "node.pods"),
    ("node group ", "node.group"),
    ("node does not satisfy the node group", "node.group"),
    ("not allow to dispatch to revocable node", "node.revocable"),
)


def no_node(unfit: Mapping[str, Any]) -> Reason:
    """Return the reason that no node accepts a pod, whether any ever could, and which comes closest."""
    text = f"No node takes pod {unfit.get('pod', '')}"
    if message := unfit.get("message", "").rstrip("."):
        text += f': "{message}"'
    for more in (*_never(unfit), *_closest(unfit)):
        text += f"; {more}"
    numbers = {"nodes": unfit.get("nodes") or {}, "closest": unfit.get("closest")}
    for name in ("too_large", "not_offered", "barred"):
        if unfit.get(name):
            numbers[name] = unfit[name]
    return reason("gate.node", f"{text}.", numbers)


def _never(unfit: Mapping[str, Any]) -> Iterator[str]:
    """Yield why no node would accept the pod, regardless of free resources."""
    not_offered = unfit.get("not_offered") or ()
    if not_offered:
        yield f"no node offers {listed(map(named, not_offered))}"
    too_large = {
        name: facts for name, facts in (unfit.get("too_large") or {}).items() if name not in not_offered
    }
    if too_large:
        together = all(facts["requested"] <= facts["largest"] for facts in too_large.values())
        requested = quantities({name: facts["requested"] for name, facts in too_large.items()}, too_large)
        if together:
            yield f"no node that admits it is large enough even when empty: none has {requested} together"
        else:
            largest = listed([amount_text(name, facts["largest"]) for name, facts in too_large.items()])
            yield (
                f"no node that admits it is large enough even when empty: it requests {requested}, "
                f"the largest has {largest}"
            )
    barred: Mapping[str, int] = unfit.get("barred") or {}
    if barred:
        why = listed([f"{count:,} {text}" for text, count in barred.items()])
        what = "more room" if unfit.get("for_good") else "more free resources alone"
        yield f"{what} would not help, as every node refuses it anyway: {why}"


def _closest(unfit: Mapping[str, Any]) -> Iterator[str]:
    closest = unfit.get("closest")
    if closest is not None and not unfit.get("not_offered"):
        missing = quantities(closest["lacks"], closest["lacks"])
        yield f"the closest is {closest['node']}, which lacks {missing}"


def refusals(unfit: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the number of nodes per reason."""
    return [_refusal(text, count) for text, count in (unfit.get("nodes") or {}).items()]


def _refusal(text: str, count: int) -> dict[str, Any]:
    name = next((name for start, name in _REFUSALS if text.startswith(start)), "node.other")
    numbers: dict[str, Any] = {"nodes": count}
    if name == "node.insufficient":
        numbers["resource"] = text.removeprefix("Insufficient ")
    return {
        "count": count,
        "text": text,
        "reason": reason(name, f"{counted(count, 'node')}: {text}.", numbers),
    }
