"""The arguments of each plugin and action: type, default, meaning and first release.

Source: volcano ``pkg/scheduler/plugins``, ``pkg/scheduler/actions`` at v1.14.4, v1.15.1, v1.16.0-alpha.1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from scheduler_core.conf import Arguments, parse_bool
from scheduler_core.release import Release, Rule


class Kind(Enum):
    """The type of an argument."""

    WHOLE = "a whole number"
    NUMBER = "a number"
    FLAG = "true or false"
    TEXT = "a text"
    DURATION = "a duration such as 1h30m"
    TEXTS = "a list of strings"
    TABLE = "a mapping"

    def takes(self, value: object) -> bool:
        """Return whether Volcano reads a value as this type; otherwise it uses the default."""
        given = Arguments({"it": value})
        if self is Kind.WHOLE:
            return isinstance(value, int) and not isinstance(value, bool)
        if self is Kind.NUMBER:
            return isinstance(value, (int, float)) and not isinstance(value, bool)
        if self is Kind.FLAG:
            return isinstance(value, bool) or parse_bool(value) is not None
        if self is Kind.TEXTS:
            return isinstance(value, list) and all(isinstance(entry, str) for entry in value)
        return isinstance(value, Mapping) if self is Kind.TABLE else bool(given.get_str("it"))


@dataclass(frozen=True)
class Argument:
    """One argument of a plugin or an action.

    Attributes
    ----------
    kind : Kind
        The type of its value.
    default : str, int, float or bool, optional
        The value if the argument is missing; None: none.
    meaning : str
        Its effect, with its unit.
    since : (int, int)
        Major and minor version of the first release that reads it.

    """

    kind: Kind
    default: str | int | float | bool | None
    meaning: str
    since: tuple[int, int] = (0, 0)

    def is_read_by(self, release: Release) -> bool:
        """Return whether a release reads the argument."""
        return self.since <= release.version


Known = Mapping[str, Argument]


def _weight(of: str, default: int = 1) -> Argument:
    return Argument(Kind.WHOLE, default, f"weight of {of}; a factor")


def _switch(about: str, default: bool = True) -> Argument:
    return Argument(Kind.FLAG, default, f"ask about {about}")


def _verb(path: str) -> Argument:
    return Argument(Kind.TEXT, None, f"path called {path}; without it the service is not called")


ARGUMENTS: Mapping[str, Known] = {
    "binpack": {
        "binpack.weight": Argument(
            Kind.WHOLE, 1, "of the plugin; 0 switches it off, below 0 prefers empty nodes"
        ),
        "binpack.cpu": _weight("cpu"),
        "binpack.memory": _weight("memory"),
        "binpack.resources": Argument(Kind.TEXT, None, "further resources, separated by commas"),
        "binpack.resources.*": _weight("a resource that is listed there"),
    },
    "capacity": {
        "ancestorReclaimLevel": Argument(
            Kind.WHOLE,
            0,
            "with enableHierarchy: how many levels above a leaf count in preempt and reclaim",
            Rule.ANCESTOR_RECLAIM_LEVEL.since,
        ),
        "capacity.DynamicResourceAllocationEnable": Argument(
            Kind.FLAG,
            None,
            "quotas of device classes, which are not modelled; without it Kubernetes' gate decides",
            since=(1, 15),
        ),
        "capacity.DRAConsumableCapacityEnable": Argument(
            Kind.FLAG,
            None,
            "shared devices in them, which are not modelled; without it Kubernetes' gate decides",
            since=(1, 15),
        ),
    },
    "extender": {
        "extender.urlPrefix": Argument(
            Kind.TEXT, None, "address of the service; without it every call fails"
        ),
        "extender.httpTimeout": Argument(Kind.DURATION, "1s", "for one exchange; 0 and below: no limit"),
        "extender.onSessionOpenVerb": _verb("when a session opens"),
        "extender.onSessionCloseVerb": _verb("when a session closes"),
        "extender.predicateVerb": _verb("whether a pod may run on a node"),
        "extender.prioritizeVerb": _verb("how good nodes are for a pod"),
        "extender.preemptableVerb": _verb("which pods may be preempted"),
        "extender.reclaimableVerb": _verb("which pods may be reclaimed"),
        "extender.queueOverusedVerb": _verb("whether a queue is overused"),
        "extender.jobEnqueueableVerb": _verb("whether a job may be enqueued"),
        "extender.jobReadyVerb": _verb("whether a job is ready"),
        "extender.allocateFuncVerb": _verb("when a pod was allocated"),
        "extender.deallocateFuncVerb": _verb("when a pod was deallocated"),
        "extender.ignorable": Argument(Kind.FLAG, False, "whether failures of the service may be ignored"),
        "extender.managedResources": Argument(
            Kind.TEXTS,
            None,
            "if set, the service is called only for pods that request one of these resources",
        ),
    },
    "nodegroup": {
        "strict": Argument(
            Kind.FLAG, True, "false: a node without a group accepts tasks of queues without rules"
        ),
        "enablePreferredOrder": Argument(
            Kind.FLAG, False, "score preferred groups by their position", Rule.PREFERRED_GROUP_ORDER.since
        ),
    },
    "nodeorder": {
        "leastrequested.weight": _weight("free cpu and memory"),
        "mostrequested.weight": _weight("used cpu and memory", 0),
        "nodeaffinity.weight": _weight("preferred node affinity", 2),
        "podaffinity.weight": _weight("preferred affinity to other pods", 2),
        "balancedresource.weight": _weight("even use of cpu, memory and GPUs"),
        "tainttoleration.weight": _weight("few PreferNoSchedule taints", 3),
        "imagelocality.weight": _weight("images that the node has"),
        "podtopologyspread.weight": _weight("ScheduleAnyway spread", 2),
    },
    "overcommit": {
        "overcommit-factor": Argument(
            Kind.NUMBER, 1.2, "jobs are enqueued up to this multiple of the cluster's resources, at least 1"
        )
    },
    "predicates": {
        "predicate.NodeAffinityEnable": _switch("node selector and node affinity"),
        "predicate.NodePortsEnable": _switch("host ports"),
        "predicate.TaintTolerationEnable": _switch("taints; a cordoned node still refuses"),
        "predicate.PodAffinityEnable": _switch("inter-pod affinity; off: preempt's dry runs skip it, too"),
        "predicate.NodeVolumeLimitsEnable": _switch("limits of volumes, which are not modelled"),
        "predicate.VolumeZoneEnable": _switch("zones of volumes, which are not modelled"),
        "predicate.PodTopologySpreadEnable": _switch("topology spread"),
        "predicate.VolumeBindingEnable": _switch("volumes, which are not modelled"),
        "predicate.CacheEnable": Argument(
            Kind.FLAG, False, "cache the result of the first pod of a template per node"
        ),
        "volumebinding.weight": _weight("the score of volumes, which are not modelled"),
        "volumebinding.bindTimeoutSeconds": Argument(Kind.WHOLE, 600, "seconds until binding a volume fails"),
        "volumebinding.shape": Argument(Kind.TEXT, None, "how the use of a volume is scored; not modelled"),
        "dynamicresources.filterTimeoutSeconds": Argument(
            Kind.WHOLE, 10, "seconds for one filter; not modelled"
        ),
    },
    "resource-strategy-fit": {
        "resourceStrategyFitWeight": Argument(Kind.NUMBER, 10, "of the strategies; 0: off, below 0: 10"),
        "resources": Argument(Kind.TABLE, None, "name: type (LeastAllocated, MostAllocated) and weight"),
        "sra": Argument(Kind.TABLE, None, "enable, weight, resources, resourceWeight of scarce resources"),
        "proportional": Argument(
            Kind.TABLE, None, "enable, resources, resourceProportion: cores and gigabytes kept"
        ),
    },
    "sla": {
        "sla-waiting-time": Argument(Kind.DURATION, None, "maximum waiting time of a job; default: unlimited")
    },
    "tdm": {
        "tdm.revocable-zone.*": Argument(Kind.TEXT, None, "the hours of a zone, such as 10:00-21:00"),
        "tdm.evict.period": Argument(Kind.DURATION, "1m", "minimum interval between evictions in a zone"),
    },
    "cdp": {},
    "conformance": {},
    "drf": {
        "hdrf.rule": Argument(Kind.TEXT, "release", "release, or design: the published rule of the hierarchy")
    },
    "gang": {},
    "pdb": {},
    "priority": {},
    "proportion": {},
    "resourcequota": {},
}
"""Arguments of the modelled plugins; those of other plugins are not checked. `*` matches any suffix."""

RETIRED: Mapping[str, str] = {
    "predicate.GPUSharingEnable": "devices moved to plugin deviceshare",
    "predicate.GPUNumberEnable": "devices moved to plugin deviceshare",
    "predicate.ProportionalEnable": "this moved to plugin resource-strategy-fit, argument proportional",
    "predicate.resources*": "this moved to plugin resource-strategy-fit, argument proportional",
}
"""Arguments of former versions, which no known release reads."""

_ERROR_CACHE = {
    "predicateErrorCacheEnable": Argument(
        Kind.FLAG, True, "reuses the result of one pod for the other pods of its role"
    )
}
_GANG_EVICTION = {
    "maxDomains": Argument(Kind.WHOLE, 8, "how many domains are tried; 0 and below: 8"),
    "allowWholeBundle": Argument(Kind.FLAG, True, "whether whole jobs may be evicted"),
}
ACTION_ARGUMENTS: Mapping[str, Known] = {
    "enqueue": {},
    "allocate": _ERROR_CACHE,
    "backfill": _ERROR_CACHE,
    "reclaim": _ERROR_CACHE,
    "shuffle": {},
    "preempt": {
        **_ERROR_CACHE,
        "enableTopologyAwarePreemption": Argument(
            Kind.FLAG, False, "search for victims with dry runs on a sample of nodes"
        ),
        "topologyAwarePreemptWorkerNum": Argument(Kind.WHOLE, 16, "threads of the dry runs"),
        "minCandidateNodesPercentage": Argument(Kind.WHOLE, 10, "percentage of the nodes in dry runs"),
        "minCandidateNodesAbsolute": Argument(Kind.WHOLE, 1, "minimum number of nodes in dry runs"),
        "maxCandidateNodesAbsolute": Argument(Kind.WHOLE, 100, "maximum number of nodes in dry runs"),
    },
    "gangpreempt": _GANG_EVICTION,
    "gangreclaim": _GANG_EVICTION,
}


def argument_of(name: str, known: Known) -> Argument | None:
    """Return the description of an argument, None for an unknown one.

    Examples
    --------
    >>> argument_of("binpack.resources.nvidia.com/gpu", ARGUMENTS["binpack"]).kind.value
    'a whole number'

    """
    if name in known and not name.endswith("*"):
        return known[name]
    endings = (pattern for pattern in known if pattern.endswith("*") and name.startswith(pattern[:-1]))
    longest = max(endings, key=len, default=None)
    return None if longest is None else known[longest]
