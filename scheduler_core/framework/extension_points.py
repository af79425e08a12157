"""Which questions can a plugin answer, and which switch turns each answer off?

A plugin registers an answer with ``session.add_fn(POINT, name, fn)``; the session combines the answers of all
tiers. ``why`` parameters are None when no explanation is collected; otherwise the answer leaves its reasons
there.

Source: volcano ``pkg/scheduler/framework/session_plugins.go`` at v1.15.1.
"""

from __future__ import annotations

from enum import Enum


class Point(Enum):
    """An extension point: the switch that guards it (None: always on), and what it is asked."""

    # (job) -> key: the job with the smaller one goes first. The key may change only when a task of the job
    # changes its status, of which plugins are told by events afterwards
    JOB_ORDER = "job_order", "enableJobOrder"
    # compare(left, right) -> number; below 0: left first
    QUEUE_ORDER = "queue_order", "enableQueueOrder"
    # (task) -> key: the task with the smaller one goes first; it never changes within a session
    TASK_ORDER = "task_order", "enableTaskOrder"
    # (queue, preemptor's queue) -> key: the queue with the smaller one loses first; it never changes
    VICTIM_QUEUE_ORDER = "victim_queue_order", None
    # (job) -> None or (reason, message) of why the job is not valid
    JOB_VALID = "job_valid", None
    # (job) -> bool
    JOB_READY = "job_ready", "enableJobReady"
    JOB_STARVING = "job_starving", "enableJobStarving"
    # (job) -> Vote
    JOB_PIPELINED = "job_pipelined", "enableJobPipelined"
    # (job, why: dict) -> Vote; a rejection leaves why["message"]
    JOB_ENQUEUEABLE = "job_enqueueable", "enableJobEnqueued"
    # (job) -> None: the job was enqueued
    JOB_ENQUEUED = "job_enqueued", "enableJobEnqueued"
    # (queue) -> bool
    OVERUSED = "overused", "enabledOverused"
    # (queue, tasks, why) -> bool: may the queue evict for these tasks
    PREEMPTIVE = "preemptive", "enablePreemptive"
    # (queue, task, why) -> bool
    ALLOCATABLE = "allocatable", "enabledAllocatable"
    # (task) -> None; raises PrePredicateError
    PRE_PREDICATE = "pre_predicate", "enablePredicate"
    # (task, nodes: (K,) intp) -> (K,) int32 numbers of the session's status table, 0: fits
    PREDICATE = "predicate", "enablePredicate"
    # (task, nodes: (K,) intp) -> (K,) float64; NaN: the node gets no per-node score from any plugin
    NODE_ORDER = "node_order", "enableNodeOrder"
    # (task, candidates: (K,) intp) -> (K,) float64; raises ScoreError: no node gets a score
    BATCH_NODE_ORDER = "batch_node_order", "enableNodeOrder"
    # (initiator task, candidates, why) -> list of accepted candidates, None to abstain
    PREEMPTABLE = "preemptable", "enablePreemptable"
    RECLAIMABLE = "reclaimable", "enableReclaimable"
    # (initiator task, candidates, action, why) -> list of accepted candidates, None to abstain
    UNIFIED_EVICTABLE = "unified_evictable", None
    # (running tasks) -> tasks that shuffle should evict
    VICTIM_TASKS = "victim_tasks", "enabledVictim"
    # dry run of topology-aware preemption, on a DryRun; off only when both switches are
    # (dry run, task) -> None; raises CoreError
    SIMULATE_ADD_TASK = "simulate_add_task", "enablePreemptable", "enabledAllocatable"
    SIMULATE_REMOVE_TASK = "simulate_remove_task", "enablePreemptable", "enabledAllocatable"
    # (dry run, queue, task) -> bool
    SIMULATE_ALLOCATABLE = "simulate_allocatable", "enabledAllocatable"
    # (dry run, task) -> bool
    SIMULATE_PREDICATE = "simulate_predicate", "enablePredicate"

    __hash__ = object.__hash__

    def __init__(self, label: str, *switches: str | None) -> None:
        self.label = label
        self.switches = [switch for switch in switches if switch is not None]


class Vote(Enum):
    """An opinion: one rejection decides at once, a permit at the end of its tier."""

    PERMIT = 1
    ABSTAIN = 0
    REJECT = -1


# As names of their own, since Python 3.11 calls a function for each look at a member of an enumeration.
PERMIT, ABSTAIN, REJECT = Vote
