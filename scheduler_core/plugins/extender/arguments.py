"""The arguments of plugin extender.

Source: volcano ``pkg/scheduler/plugins/extender/argument.go`` at v1.15.1.
"""

from __future__ import annotations

from typing import NamedTuple

from scheduler_core.conf import Arguments
from scheduler_core.errors import SchedulerPanic
from scheduler_core.model.job import TaskInfo
from scheduler_core.model.timestamps import parse_duration

VERBS = (
    "onSessionOpen",
    "onSessionClose",
    "predicate",
    "prioritize",
    "preemptable",
    "reclaimable",
    "queueOverused",
    "jobEnqueueable",
    "jobReady",
    "allocateFunc",
    "deallocateFunc",
)
DEFAULT_TIMEOUT = 1.0


class ExtenderArguments(NamedTuple):
    """The arguments of the plugin.

    Attributes
    ----------
    prefix : str
        The URL without its trailing slashes.
    verbs : dict
        The path after the prefix and a slash, by verb; a missing verb is never called.
    timeout : float or None
        Seconds; None: no limit.
    managed : frozenset
        The resources that the extender manages; empty: it is called for every task.

    """

    prefix: str
    verbs: dict[str, str]
    timeout: float | None
    ignorable: bool
    managed: frozenset[str]

    @classmethod
    def read(cls, arguments: Arguments) -> ExtenderArguments:
        """Return the arguments of the plugin's entry."""
        verbs = {verb: arguments.get_str(f"extender.{verb}Verb") for verb in VERBS}
        seconds = parse_duration(arguments.get_str("extender.httpTimeout"))
        timeout = DEFAULT_TIMEOUT if seconds is None else seconds
        return cls(
            prefix=arguments.get_str("extender.urlPrefix").rstrip("/"),
            verbs={verb: path for verb, path in verbs.items() if path},
            timeout=timeout if timeout > 0 else None,
            ignorable=arguments.get_bool("extender.ignorable", False),
            managed=_managed(arguments.values.get("extender.managedResources")),
        )

    def is_interested_in(self, task: TaskInfo) -> bool:
        """Return whether the extender is called for a task, that is, whether it names a managed resource."""
        if not self.managed:
            return True
        spec = task.pod["spec"]
        containers = [*(spec.get("containers") or ()), *(spec.get("initContainers") or ())]
        return any(
            self.managed & ((container.get("resources") or {}).get(part) or {}).keys()
            for container in containers
            for part in ("requests", "limits")
        )


def _managed(value: object) -> frozenset[str]:
    if value is None:
        return frozenset()
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise SchedulerPanic("argument extender.managedResources of plugin extender is not a list of strings")
    return frozenset(value)
