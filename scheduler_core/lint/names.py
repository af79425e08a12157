"""Keys of a scheduler configuration and callbacks of plugins in Volcano v1.15.1.

Source: volcano ``pkg/scheduler/plugins``, ``pkg/scheduler/actions``, ``conf/scheduler_conf.go`` at v1.15.1.
"""

from __future__ import annotations

from collections.abc import Mapping

from scheduler_core.framework.extension_points import Point

CONF_KEYS = ("actions", "tiers", "configurations", "metrics")
TIER_KEYS = ("plugins",)
ENTRY_KEYS = ("name", "arguments")

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
"""The callbacks of each modelled plugin; drf orders queues and reclaims only with enableHierarchy, and
capacity orders victims' queues only then."""

ONLY_WITH_HIERARCHY = {
    ("drf", Point.QUEUE_ORDER),
    ("drf", Point.RECLAIMABLE),
    ("capacity", Point.VICTIM_QUEUE_ORDER),
}
"""Callbacks that a plugin has only if its first entry has enableHierarchy."""

EXTENDER_VERBS: Mapping[Point, str] = {
    Point.PREDICATE: "extender.predicateVerb",
    Point.BATCH_NODE_ORDER: "extender.prioritizeVerb",
    Point.PREEMPTABLE: "extender.preemptableVerb",
    Point.RECLAIMABLE: "extender.reclaimableVerb",
    Point.OVERUSED: "extender.queueOverusedVerb",
    Point.JOB_ENQUEUEABLE: "extender.jobEnqueueableVerb",
    Point.JOB_READY: "extender.jobReadyVerb",
}
"""The argument that makes an extender answer; without a verb it is not called."""
