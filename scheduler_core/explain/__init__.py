"""Explanations of a run and of changes to it, as pure functions of a scenario and its result."""

from scheduler_core.explain.checklist import reclaim_checklist
from scheduler_core.explain.cycle_view import Unknown, podgroup_keys
from scheduler_core.explain.deserved import derivation
from scheduler_core.explain.flow import flow
from scheduler_core.explain.loop_search import searched, with_loops
from scheduler_core.explain.loops import loops
from scheduler_core.explain.reasons import REASONS
from scheduler_core.explain.replay import state_at
from scheduler_core.explain.stories import job_story, node_story, pod_story, queue_story, waiting_jobs
from scheduler_core.explain.trials import Limits
from scheduler_core.explain.unblocking import answers, unblocking
from scheduler_core.explain.victims import victim_story

__all__ = [
    "REASONS",
    "Limits",
    "Unknown",
    "answers",
    "derivation",
    "flow",
    "job_story",
    "loops",
    "node_story",
    "pod_story",
    "podgroup_keys",
    "queue_story",
    "reclaim_checklist",
    "searched",
    "state_at",
    "unblocking",
    "victim_story",
    "waiting_jobs",
    "with_loops",
]
