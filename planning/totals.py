"""How much does a whole cluster have?"""

from collections.abc import Mapping
from typing import Any

from planning.documents import items
from planning.quantities import amounts
from planning.rows import Amounts


def allocatable_totals(document: Mapping[str, Any]) -> Amounts:
    """Return what the nodes of a scenario document offer together, in the scheduler's units."""
    totals: dict[str, float] = {}
    for node in items(document.get("nodes")):
        status = node.get("status") or {}
        for resource, amount in amounts(status.get("allocatable") or status.get("capacity") or {}).items():
            totals[resource] = totals.get(resource, 0.0) + (amount or 0.0)
    return totals
