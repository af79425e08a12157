"""Checks of the amounts and the state of a single queue."""

from __future__ import annotations

from scheduler_core.admission_rules.written import (
    PARTS,
    Object,
    Problems,
    amounts_of,
    field_of,
    problem,
    shown,
    written,
)
from scheduler_core.problem import spell_steps
from scheduler_core.quantity import milli_value
from scheduler_core.resource import PODS
from scheduler_core.resource_names import is_scalar_name

WRITABLE_STATES = ("", "Open", "Closed")
_COUNTS = frozenset(
    {
        PODS,
        "services",
        "replicationcontrollers",
        "resourcequotas",
        "secrets",
        "configmaps",
        "persistentvolumeclaims",
        "services.nodeports",
        "services.loadbalancers",
    }
)


def quantity_problems(queue: Object) -> Problems:
    """Check that every amount is at least 0, and whole for resources that cannot be divided."""
    for part in PARTS:
        for resource, amount in sorted(amounts_of(queue, part).items()):
            field = spell_steps(*field_of(part), resource)
            if amount < 0:
                message = "an amount cannot be below 0"
                yield problem(
                    queue,
                    "queue.negative",
                    field,
                    message,
                    actual=float(amount),
                    limit=0,
                    fix="write 0 or more",
                )
            elif milli_value(written(queue, part)[resource]) % 1000 and _is_indivisible(resource):
                message = f"{resource} comes in whole units"
                yield problem(
                    queue, "queue.fraction", field, message, actual=float(amount), fix="write a whole number"
                )


def order_problems(queue: Object) -> Problems:
    """Check that guarantee is at most deserved and deserved at most capability."""
    capability, deserved, guarantee = (amounts_of(queue, part) for part in PARTS)
    for resource, amount in sorted(guarantee.items()):
        field = spell_steps("spec", "deserved", resource)
        if resource not in deserved:
            message = f"a guarantee of {resource} needs a deserved amount of it"
            fix = f"write at least {shown(queue, 'guarantee', resource)}"
            yield problem(
                queue, "queue.guarantee_without_deserved", field, message, limit=float(amount), fix=fix
            )
        elif deserved[resource] < amount:
            least = shown(queue, "guarantee", resource)
            message = f"{shown(queue, 'deserved', resource)} is below the guarantee of {least}"
            yield problem(
                queue,
                "queue.deserved_below_guarantee",
                field,
                message,
                actual=float(deserved[resource]),
                limit=float(amount),
                fix=f"write at least {least}",
            )
    for resource, amount in sorted(deserved.items()):
        if resource in capability and amount > capability[resource]:
            most = shown(queue, "capability", resource)
            yield problem(
                queue,
                "queue.deserved_above_capability",
                spell_steps("spec", "deserved", resource),
                f"{shown(queue, 'deserved', resource)} is above the capability of {most}",
                actual=float(amount),
                limit=float(capability[resource]),
                fix=f"write at most {most}",
            )


def state_problems(queue: Object) -> Problems:
    """Check that the state may be set; a queue that is Closing cannot be changed at all."""
    state = (queue.get("status") or {}).get("state") or ""
    if state not in WRITABLE_STATES:
        message = f"a queue in state {state} cannot be written"
        yield problem(
            queue, "queue.state", "status.state", message, actual=state, fix="wait until it is Closed"
        )


def _is_indivisible(resource: str) -> bool:
    native = "kubernetes.io/" in resource or resource.startswith(("hugepages-", "attachable-volumes-"))
    return resource in _COUNTS or (is_scalar_name(resource) and not native)
