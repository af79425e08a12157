"""Plugins gang and priority: ``spec/gang_priority.md`` 2 and 3."""

from __future__ import annotations

from tests.reference.jobs import Job
from tests.reference.plugin import PERMIT, REJECT, Plugin
from tests.reference.pods import READY, VALID, Task


class Gang(Plugin):
    def job_valid(self, job: Job) -> str | None:
        if not job.roles_have(VALID):
            return "NotEnoughPodsOfTask"
        return "NotEnoughTasks" if job.count(*VALID) < job.min_available else None

    def job_order(self, left: Job, right: Job) -> int:
        return left.is_ready() - right.is_ready()

    def job_ready(self, job: Job) -> bool:
        return job.roles_have(READY, best_effort=True) and job.is_ready()

    def job_pipelined(self, job: Job) -> int:
        promised = job.roles_have((*READY, "Pipelined"), best_effort=True)
        return PERMIT if promised and job.is_pipelined() else REJECT

    def job_starving(self, job: Job) -> bool:
        return job.count("Pipelined", *READY) < job.min_available

    def preemptable(self, _task: Task, candidates: list[Task]) -> list[Task]:
        budgets: dict[str, int] = {}
        accepted = []
        for victim in candidates:
            budget = budgets.setdefault(victim.job.key, victim.job.count(*READY))
            if budget > victim.job.min_available:
                budgets[victim.job.key] = budget - 1
                accepted.append(victim)
        return accepted

    reclaimable = preemptable

    def unified_evictable(self, _task: Task, candidates: list[Task]) -> list[Task]:
        return candidates


class Priority(Plugin):
    def task_order(self, left: Task, right: Task) -> int:
        return right.priority - left.priority

    def job_order(self, left: Job, right: Job) -> int:
        return right.priority - left.priority

    def job_starving(self, job: Job) -> bool:
        return job.count("Pipelined", *READY) < len(job.tasks)

    def preemptable(self, task: Task, candidates: list[Task]) -> list[Task]:
        return [
            victim
            for victim in candidates
            if (
                victim.priority < task.priority
                if victim.job is task.job
                else victim.job.priority < task.job.priority
            )
        ]

    def unified_evictable(self, task: Task, candidates: list[Task]) -> list[Task]:
        if self.session.action == "gangreclaim":
            return candidates
        return [victim for victim in candidates if victim.job.priority < task.job.priority]
