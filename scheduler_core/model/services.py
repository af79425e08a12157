"""Services, and the pods that they select."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from scheduler_core.model.job import TaskInfo
from scheduler_core.model.labels import Selector


class Services:
    """The Services of a cluster."""

    def __init__(self, services: Iterable[Mapping[str, Any]]) -> None:
        self._services = [_Service(service) for service in services]

    def __bool__(self) -> bool:
        return bool(self._services)

    def labels(self) -> set[str]:
        """Return the labels that any service's selector reads."""
        return {key for service in self._services for key in service.selector.labels()}

    def selector_of(self, task: TaskInfo) -> Selector:
        """Return the conjunction of the selectors of all services that select a pod; empty if none does."""
        labels = task.labels()
        return Selector(
            tuple(
                requirement
                for service in self._services
                if service.namespace == task.namespace and service.selects(labels)
                for requirement in service.selector.requirements
            )
        )


class _Service:
    """The fields that the scheduler reads from a Service."""

    def __init__(self, service: Mapping[str, Any]) -> None:
        self.namespace: str = service["metadata"]["namespace"]
        labels = (service.get("spec") or {}).get("selector")
        self.names_pods = labels is not None
        selector = Selector()
        for key, value in (labels or {}).items():
            selector = selector.with_requirement(key, "In", value)
        self.selector = selector

    def selects(self, labels: Mapping[str, str]) -> bool:
        return self.names_pods and self.selector.matches(labels)
