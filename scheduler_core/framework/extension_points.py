"""The extension points of plugins, and the switch that turns each one off.

A plugin registers its functions with the session's `registry.Registry`, one ``add_...`` method for each
point; the session combines the answers of all tiers. ``why`` is None if no explanation is collected;
otherwise the function stores its reasons there.

Source: volcano ``pkg/scheduler/framework/session_plugins.go`` at v1.15.1.
"""

from __future__ import annotations

from enum import Enum


class Point(Enum):
    """An extension point: its name, the arguments of its functions, the switches that guard it."""

    # key: the job with the smaller key is first. It may change only when a task of the job changes its
    # status, after which plugins receive an event
    JOB_ORDER = "job_order", "job", "enableJobOrder"
    # number; below 0: left first
    QUEUE_ORDER = "queue_order", "left, right", "enableQueueOrder"
    # key: the task with the smaller key is first; it never changes within a session
    TASK_ORDER = "task_order", "task", "enableTaskOrder"
    # key: the queue with the smaller key loses tasks first; it never changes
    VICTIM_QUEUE_ORDER = "victim_queue_order", "queue, preemptor's queue"
    # None, or (reason, message) why the job is not valid
    JOB_VALID = "job_valid", "job"
    # bool
    JOB_READY = "job_ready", "job", "enableJobReady"
    JOB_STARVING = "job_starving", "job", "enableJobStarving"
    # Vote
    JOB_PIPELINED = "job_pipelined", "job", "enableJobPipelined"
    # Vote; a rejection leaves why["message"]
    JOB_ENQUEUEABLE = "job_enqueueable", "job, why", "enableJobEnqueued"
    # None: the job was enqueued
    JOB_ENQUEUED = "job_enqueued", "job", "enableJobEnqueued"
    # bool
    OVERUSED = "overused", "queue", "enabledOverused"
    # bool: may the queue evict for these tasks
    PREEMPTIVE = "preemptive", "queue, tasks, why", "enablePreemptive"
    # bool
    ALLOCATABLE = "allocatable", "queue, task, why", "enabledAllocatable"
    # None; raises PrePredicateError
    PRE_PREDICATE = "pre_predicate", "task", "enablePredicate"
    # (K,) int32 numbers of the session's status table for nodes, (K,) intp; 0: fits
    PREDICATE = "predicate", "task, nodes", "enablePredicate"
    # (K,) float64; NaN: the node gets no per-node score from any plugin
    NODE_ORDER = "node_order", "task, nodes", "enableNodeOrder"
    # (K,) float64; raises ScoreError: no node gets a score
    BATCH_NODE_ORDER = "batch_node_order", "task, candidates", "enableNodeOrder"
    # list of accepted candidates, None to abstain
    PREEMPTABLE = "preemptable", "preemptor, candidates, why", "enablePreemptable"
    RECLAIMABLE = "reclaimable", "reclaimer, candidates, why", "enableReclaimable"
    UNIFIED_EVICTABLE = "unified_evictable", "preemptor, candidates, action, why"
    # running tasks that shuffle should evict
    VICTIM_TASKS = "victim_tasks", "running", "enabledVictim"
    # dry run of topology-aware preemption, on a DryRun; off only if both switches are off
    # None; raises CoreError
    SIMULATE_ADD_TASK = "simulate_add_task", "dry run, task", "enablePreemptable", "enabledAllocatable"
    SIMULATE_REMOVE_TASK = "simulate_remove_task", "dry run, task", "enablePreemptable", "enabledAllocatable"
    # bool
    SIMULATE_ALLOCATABLE = "simulate_allocatable", "dry run, queue, task", "enabledAllocatable"
    SIMULATE_PREDICATE = "simulate_predicate", "dry run, task", "enablePredicate"

    __hash__ = object.__hash__

    def __init__(self, label: str, arguments: str, *switches: str) -> None:
        self.label = label
        self.arguments = tuple(arguments.split(", "))
        self.switches = switches


class Vote(Enum):
    """A vote: a rejection decides at once, a permit decides at the end of its tier."""

    PERMIT = 1
    ABSTAIN = 0
    REJECT = -1


# Separate names, because in Python 3.11 each access to a member of an enumeration calls a function.
PERMIT, ABSTAIN, REJECT = Vote
