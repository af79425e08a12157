"""Calls of a session to its plugins: ``spec/session.md`` 2 and 3."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tests.reference.cluster import Queue
from tests.reference.jobs import Job
from tests.reference.plugin import PERMIT, REJECT
from tests.reference.pods import Task

SWITCHES = {
    "job_order": "enableJobOrder",
    "queue_order": "enableQueueOrder",
    "task_order": "enableTaskOrder",
    "job_ready": "enableJobReady",
    "job_pipelined": "enableJobPipelined",
    "job_starving": "enableJobStarving",
    "job_enqueueable": "enableJobEnqueued",
    "job_enqueued": "enableJobEnqueued",
    "overused": "enabledOverused",
    "preemptive": "enablePreemptive",
    "allocatable": "enabledAllocatable",
    "pre_predicate": "enablePredicate",
    "predicate": "enablePredicate",
    "node_order": "enableNodeOrder",
    "batch_node_order": "enableNodeOrder",
    "victim_tasks": "enabledVictim",
    "simulate_allocatable": "enabledAllocatable",
    "simulate_predicate": "enablePredicate",
    "preemptable": "enablePreemptable",
    "reclaimable": "enableReclaimable",
}


class Dispatch:
    """Calls of all plugins, tier by tier."""

    tiers: list[list[tuple[Any, Mapping[str, Any]]]]
    instances: list[tuple[str, Any]]

    def ask(self, point: str) -> list[list[Callable[..., Any]]]:
        """Return the plugins registered at a point, tier by tier."""
        switch = SWITCHES.get(point, "")
        return [
            [
                getattr(plugin, point)
                for plugin, entry in tier
                if entry.get(switch) is not False and hasattr(plugin, point)
            ]
            for tier in self.tiers
        ]

    def every(self, point: str) -> list[Callable[..., Any]]:
        """Return the same over all tiers."""
        return [answer for tier in self.ask(point) for answer in tier]

    def movers(self) -> list[Callable[..., Any]]:
        """Return the plugins that follow simulated removals of pods."""
        return [
            plugin.simulate_move
            for tier in self.tiers
            for plugin, entry in tier
            if hasattr(plugin, "simulate_move")
            and (entry.get("enablePreemptable"), entry.get("enabledAllocatable")) != (False, False)
        ]

    def vote(self, point: str, job: Job) -> bool:
        for tier in self.ask(point):
            permitted = False
            for answer in tier:
                opinion = answer(job)
                if opinion == REJECT:
                    return False
                permitted = permitted or opinion == PERMIT
            if permitted:
                return True
        return True

    def starving(self, job: Job) -> bool:
        tier = next((tier for tier in self.ask("job_starving") if tier), [])
        return bool(tier) and all(answer(job) for answer in tier)

    def valid(self, job: Job) -> bool:
        return not any(answer(job) for answer in self.every("job_valid"))

    def ready(self, job: Job) -> bool:
        return all(answer(job) for answer in self.every("job_ready"))

    def pipelined(self, job: Job) -> bool:
        return self.vote("job_pipelined", job)

    def overused(self, queue: Queue) -> bool:
        return any(answer(queue) for answer in self.every("overused"))

    def allocatable(self, queue: Queue, task: Task) -> bool:
        return all(answer(queue, task) for answer in self.every("allocatable"))

    def preemptive(self, queue: Queue, tasks: list[Task]) -> bool:
        return all(answer(queue, tasks) for answer in self.every("preemptive"))

    def victims(self, point: str, task: Task, candidates: list[Task]) -> list[Task]:
        for tier in self.ask(point):
            chosen: list[Task] | None = None
            for answer in tier:
                accepted = answer(task, candidates)
                if accepted is None:
                    continue
                if not accepted:
                    chosen = None
                    break
                both = accepted if chosen is None else [one for one in chosen if one in accepted]
                chosen = both or None
            if chosen is not None:
                return chosen
        return []

    def fire(self, event: str, task: Task) -> bool:
        """Fire an event handler of all plugins; return whether one reports an error."""
        handlers = [getattr(plugin, event) for _, plugin in self.instances if hasattr(plugin, event)]
        errors = [handler(task) for handler in handlers]
        return any(error is not None for error in errors)
