"""Which keys, arguments and answers does Volcano v1.15.1 know in a scheduler configuration?

Source: volcano ``pkg/scheduler/plugins``, ``pkg/scheduler/actions``, ``conf/scheduler_conf.go`` at v1.15.1.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum

from scheduler_core.conf import Arguments, parse_bool
from scheduler_core.framework.extension_points import Point

CONF_KEYS = ("actions", "tiers", "configurations", "metrics")
TIER_KEYS = ("plugins",)
ENTRY_KEYS = ("name", "arguments")


class Kind(Enum):
    """What type of value an argument takes."""

    WHOLE = "a whole number"
    NUMBER = "a number"
    FLAG = "true or false"
    TEXT = "a text"
    DURATION = "a duration such as 1h30m"
    TEXTS = "a list of texts"
    TABLE = "a mapping"

    def takes(self, value: object) -> bool:
        """Tell whether Volcano reads a value of this type; another one leaves the default."""
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


Known = Mapping[str, Kind]

ARGUMENTS: Mapping[str, Known] = {
    "binpack": {
        "binpack.weight": Kind.WHOLE,
        "binpack.cpu": Kind.WHOLE,
        "binpack.memory": Kind.WHOLE,
        "binpack.resources": Kind.TEXT,
        "binpack.resources.*": Kind.WHOLE,
    },
    "capacity": {
        "ancestorReclaimLevel": Kind.WHOLE,
        "capacity.DynamicResourceAllocationEnable": Kind.FLAG,
        "capacity.DRAConsumableCapacityEnable": Kind.FLAG,
    },
    "extender": {
        "extender.urlPrefix": Kind.TEXT,
        "extender.httpTimeout": Kind.DURATION,
        "extender.onSessionOpenVerb": Kind.TEXT,
        "extender.onSessionCloseVerb": Kind.TEXT,
        "extender.predicateVerb": Kind.TEXT,
        "extender.prioritizeVerb": Kind.TEXT,
        "extender.preemptableVerb": Kind.TEXT,
        "extender.reclaimableVerb": Kind.TEXT,
        "extender.queueOverusedVerb": Kind.TEXT,
        "extender.jobEnqueueableVerb": Kind.TEXT,
        "extender.jobReadyVerb": Kind.TEXT,
        "extender.allocateFuncVerb": Kind.TEXT,
        "extender.deallocateFuncVerb": Kind.TEXT,
        "extender.ignorable": Kind.FLAG,
        "extender.managedResources": Kind.TEXTS,
    },
    "nodegroup": {"strict": Kind.FLAG, "enablePreferredOrder": Kind.FLAG},
    "nodeorder": {
        f"{name}.weight": Kind.WHOLE
        for name in (
            "leastrequested",
            "mostrequested",
            "nodeaffinity",
            "podaffinity",
            "balancedresource",
            "tainttoleration",
            "imagelocality",
            "podtopologyspread",
        )
    },
    "overcommit": {"overcommit-factor": Kind.NUMBER},
    "predicates": {
        **{
            f"predicate.{name}Enable": Kind.FLAG
            for name in (
                "NodeAffinity",
                "NodePorts",
                "TaintToleration",
                "PodAffinity",
                "NodeVolumeLimits",
                "VolumeZone",
                "PodTopologySpread",
                "VolumeBinding",
                "Cache",
            )
        },
        "volumebinding.weight": Kind.WHOLE,
        "volumebinding.bindTimeoutSeconds": Kind.WHOLE,
        "volumebinding.shape": Kind.TEXT,
        "dynamicresources.filterTimeoutSeconds": Kind.WHOLE,
    },
    "resource-strategy-fit": {
        "resourceStrategyFitWeight": Kind.NUMBER,
        "resources": Kind.TABLE,
        "sra": Kind.TABLE,
        "proportional": Kind.TABLE,
    },
    "sla": {"sla-waiting-time": Kind.DURATION},
    "tdm": {"tdm.revocable-zone.*": Kind.TEXT, "tdm.evict.period": Kind.DURATION},
    "cdp": {},
    "conformance": {},
    "drf": {"hdrf.rule": Kind.TEXT},
    "gang": {},
    "pdb": {},
    "priority": {},
    "proportion": {},
    "resourcequota": {},
}
"""Arguments of plugins that are modelled; those of others are not judged. `*` stands for any ending."""

RETIRED: Mapping[str, str] = {
    "predicate.GPUSharingEnable": "devices moved to plugin deviceshare",
    "predicate.GPUNumberEnable": "devices moved to plugin deviceshare",
    "predicate.ProportionalEnable": "this moved to plugin resource-strategy-fit, argument proportional",
    "predicate.resources*": "this moved to plugin resource-strategy-fit, argument proportional",
}
"""Arguments of former versions, which v1.15.1 reads no more."""

_ERROR_CACHE = {"predicateErrorCacheEnable": Kind.FLAG}
ACTION_ARGUMENTS: Mapping[str, Known] = {
    "enqueue": {},
    "allocate": _ERROR_CACHE,
    "backfill": _ERROR_CACHE,
    "reclaim": _ERROR_CACHE,
    "shuffle": {},
    "preempt": {
        **_ERROR_CACHE,
        "enableTopologyAwarePreemption": Kind.FLAG,
        "topologyAwarePreemptWorkerNum": Kind.WHOLE,
        "minCandidateNodesPercentage": Kind.WHOLE,
        "minCandidateNodesAbsolute": Kind.WHOLE,
        "maxCandidateNodesAbsolute": Kind.WHOLE,
    },
    "gangpreempt": {"maxDomains": Kind.WHOLE, "allowWholeBundle": Kind.FLAG},
    "gangreclaim": {"maxDomains": Kind.WHOLE, "allowWholeBundle": Kind.FLAG},
}

READS_HIERARCHY = ("capacity", "drf", "nodegroup")
"""The plugins that read enableHierarchy."""

_DRY_RUN = (Point.SIMULATE_ADD_TASK, Point.SIMULATE_REMOVE_TASK)

POINTS: Mapping[str, tuple[Point, ...]] = {
    "binpack": (Point.NODE_ORDER,),
    "capacity": (
        Point.QUEUE_ORDER,
        Point.VICTIM_QUEUE_ORDER,
        Point.RECLAIMABLE,
        Point.UNIFIED_EVICTABLE,
        Point.PREEMPTIVE,
        Point.ALLOCATABLE,
        Point.JOB_ENQUEUEABLE,
        Point.SIMULATE_ALLOCATABLE,
        *_DRY_RUN,
    ),
    "cdp": (Point.PREEMPTABLE, Point.RECLAIMABLE),
    "conformance": (Point.PREEMPTABLE, Point.RECLAIMABLE, Point.UNIFIED_EVICTABLE),
    "drf": (Point.JOB_ORDER, Point.PREEMPTABLE, Point.QUEUE_ORDER, Point.RECLAIMABLE),
    "extender": (
        Point.PREDICATE,
        Point.BATCH_NODE_ORDER,
        Point.PREEMPTABLE,
        Point.RECLAIMABLE,
        Point.OVERUSED,
        Point.JOB_ENQUEUEABLE,
        Point.JOB_READY,
    ),
    "gang": (
        Point.JOB_VALID,
        Point.JOB_ORDER,
        Point.JOB_READY,
        Point.JOB_PIPELINED,
        Point.JOB_STARVING,
        Point.PREEMPTABLE,
        Point.RECLAIMABLE,
        Point.UNIFIED_EVICTABLE,
    ),
    "nodegroup": (Point.PREDICATE, Point.NODE_ORDER),
    "nodeorder": (Point.NODE_ORDER, Point.BATCH_NODE_ORDER),
    "overcommit": (Point.JOB_ENQUEUEABLE, Point.JOB_ENQUEUED),
    "pdb": (Point.PREEMPTABLE, Point.RECLAIMABLE, Point.VICTIM_TASKS),
    "predicates": (Point.PRE_PREDICATE, Point.PREDICATE, Point.SIMULATE_PREDICATE, *_DRY_RUN),
    "priority": (
        Point.TASK_ORDER,
        Point.JOB_ORDER,
        Point.PREEMPTABLE,
        Point.UNIFIED_EVICTABLE,
        Point.JOB_STARVING,
    ),
    "proportion": (
        Point.QUEUE_ORDER,
        Point.RECLAIMABLE,
        Point.OVERUSED,
        Point.ALLOCATABLE,
        Point.PREEMPTIVE,
        Point.JOB_ENQUEUEABLE,
        Point.SIMULATE_ALLOCATABLE,
        *_DRY_RUN,
    ),
    "resource-strategy-fit": (Point.NODE_ORDER, Point.PREDICATE),
    "resourcequota": (Point.JOB_ENQUEUEABLE,),
    "sla": (Point.JOB_ORDER, Point.JOB_ENQUEUEABLE, Point.JOB_PIPELINED),
    "tdm": (
        Point.PREDICATE,
        Point.NODE_ORDER,
        Point.PREEMPTABLE,
        Point.VICTIM_TASKS,
        Point.JOB_ORDER,
        Point.JOB_PIPELINED,
        Point.JOB_STARVING,
    ),
}
"""What each modelled plugin can answer; drf orders queues, and takes from them, only with enableHierarchy,
and capacity orders victims' queues only then, too."""

ONLY_WITH_HIERARCHY = {
    ("drf", Point.QUEUE_ORDER),
    ("drf", Point.RECLAIMABLE),
    ("capacity", Point.VICTIM_QUEUE_ORDER),
}
"""Answers that a plugin gives only when its first entry has enableHierarchy."""

EXTENDER_VERBS: Mapping[Point, str] = {
    Point.PREDICATE: "extender.predicateVerb",
    Point.BATCH_NODE_ORDER: "extender.prioritizeVerb",
    Point.PREEMPTABLE: "extender.preemptableVerb",
    Point.RECLAIMABLE: "extender.reclaimableVerb",
    Point.OVERUSED: "extender.queueOverusedVerb",
    Point.JOB_ENQUEUEABLE: "extender.jobEnqueueableVerb",
    Point.JOB_READY: "extender.jobReadyVerb",
}
"""Which argument makes an extender answer; without a verb it is not asked."""


def kind_of(argument: str, known: Known) -> Kind | None:
    """Return the type of an argument, None when there is no such.

    Examples
    --------
    >>> kind_of("binpack.resources.nvidia.com/gpu", ARGUMENTS["binpack"]).value
    'a whole number'

    """
    if argument in known and not argument.endswith("*"):
        return known[argument]
    endings = (name for name in known if name.endswith("*") and argument.startswith(name[:-1]))
    longest = max(endings, key=len, default=None)
    return None if longest is None else known[longest]
