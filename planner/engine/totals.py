"""How much does a whole cluster have?"""

from collections.abc import Mapping
from typing import Any

from planner.engine.quantities import amounts
from planner.rows import Amounts


def allocatable_totals(document: Mapping[str, Any]) -> Amounts:
    """Return what the nodes of a scenario document offer together, in the scheduler's units."""
    totals: dict[str, float] = {}
    nodes = document.get("nodes") or []
    for node in nodes.get("items") or [] if isinstance(nodes, Mapping) else nodes:
        status = node.get("status") or {}
        for resource, amount in amounts(status.get("allocatable") or status.get("capacity") or {}).items():
            totals[resource] = totals.get(resource, 0.0) + (amount or 0.0)
    return totals
