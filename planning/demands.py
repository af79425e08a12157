"""The demand of a cluster as plain data, for storage."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from scheduler_core.demand import Demand, QueueDemand, demand_of
from scheduler_core.errors import InputError
from scheduler_core.resource import Resource

Plain = Mapping[str, Any]
_RESOURCES = frozenset({"allocated", "waiting", "elastic", "inqueue"})


__all__ = ["Demand", "counted", "demand_from", "demand_of", "plain"]


def counted(document: Plain) -> dict[str, Any] | None:
    """Return the demand of a document as plain data; None if it cannot be simulated."""
    try:
        return plain(demand_of(document))
    except InputError:
        return None


def plain(demand: Demand) -> dict[str, Any]:
    """Return a demand as JSON data."""
    return {
        "total": _numbers(demand.total),
        "queues": {name: _plain_queue(queue) for name, queue in demand.queues.items()},
        "settings": demand.settings,
    }


def demand_from(plain: Plain) -> Demand:
    """Return the demand from its plain form."""
    queues = {name: _queue(queue) for name, queue in plain["queues"].items()}
    return Demand(_resource(plain["total"]), queues, plain["settings"])


def _plain_queue(queue: QueueDemand) -> dict[str, Any]:
    held = {field.name: getattr(queue, field.name) for field in fields(queue)}
    return {name: _numbers(value) if name in _RESOURCES else value for name, value in held.items()}


def _queue(plain: Plain) -> QueueDemand:
    values: dict[str, Any] = {
        name: _resource(value) if name in _RESOURCES else value for name, value in plain.items()
    }
    return QueueDemand(**values)


def _numbers(resource: Resource) -> list[Any]:
    return [resource.cpu, resource.memory, resource.scalars]


def _resource(plain: list[Any]) -> Resource:
    cpu, memory, scalars = plain
    return Resource(cpu, memory, scalars)
