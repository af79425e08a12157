"""Plugins overcommit, resourcequota and sla: ``spec/queues.md`` 7, ``node_plugins.md`` 8."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.reference.jobs import Job
from tests.reference.plugin import ABSTAIN, PERMIT, REJECT, Plugin
from tests.reference.pods import ALLOCATED
from tests.reference.resources import added, minus, quantity, total, vector, within
from tests.reference.times import duration

if TYPE_CHECKING:
    from tests.reference.session import Session


class Overcommit(Plugin):
    def __init__(self, session: Session, arguments: dict[str, Any]) -> None:
        super().__init__(session, arguments)
        factor = arguments.get("overcommit-factor", 1.2)
        factor = 1.2 if isinstance(factor, bool) or not isinstance(factor, (int, float)) else factor
        factor = factor if factor >= 1.0 else 1.2
        cluster = session.cluster
        offered = {name: amount * factor for name, amount in cluster.total.items()}
        self.idle = minus(offered, total(node.used for node in cluster.nodes.values()))
        self.inqueue = vector(None)
        for job in cluster.jobs.values():
            if job.min_resources is None:
                continue
            if job.phase == "Inqueue":
                self.inqueue = added(self.inqueue, job.without_gated(job.min_resources))
            elif job.phase == "Running" and job.count(*ALLOCATED) >= job.min_available:
                self.inqueue = added(self.inqueue, job.without_gated(job.reserved()))

    def job_enqueueable(self, job: Job) -> int:
        fitting = within(added(self.inqueue, job.min_resources), self.idle, job.min_resources)
        return PERMIT if fitting else REJECT

    def job_enqueued(self, job: Job) -> None:
        if job.min_resources is not None:
            self.inqueue = added(self.inqueue, job.without_gated(job.min_resources))


class ResourceQuota(Plugin):
    def __init__(self, session: Session, arguments: dict[str, Any]) -> None:
        super().__init__(session, arguments)
        self.booked: dict[str, dict[str, Any]] = {}

    def job_enqueueable(self, job: Job) -> int:
        quotas = [
            quota.get("status") or {}
            for quota in self.session.cluster.quotas
            if (quota["metadata"].get("namespace") or "default") == job.namespace
        ]
        if job.amounts is None or not quotas:
            return PERMIT
        payload = {name: quantity(text) for name, text in job.amounts.items()}
        booked = self.booked.setdefault(job.namespace, {})
        for status in quotas:
            hard, used = (
                {name: quantity(text) for name, text in (status.get(key) or {}).items()}
                for key in ("hard", "used")
            )
            for name in {*payload} & {*hard}:
                if used.get(name, 0) + booked.get(name, 0) + payload[name] > hard[name]:
                    return REJECT
        for name, amount in payload.items():
            booked[name] = booked.get(name, 0) + amount
        return PERMIT


class Sla(Plugin):
    KEYS = ("volcano.sh/sla-waiting-time", "sla-waiting-time")

    def waits(self, job: Job) -> float | None:
        """Return the maximum waiting time of a job."""
        texts = [*(job.notes.get(key) for key in self.KEYS), self.arguments.get("sla-waiting-time")]
        times = [duration(text) for text in texts]
        return next((time for time in times if time is not None and time > 0), None)

    def job_order(self, left: Job, right: Job) -> int:
        mine, theirs = (
            float("inf") if (time := self.waits(job)) is None else job.creation + time
            for job in (left, right)
        )
        return (mine > theirs) - (mine < theirs)

    def job_enqueueable(self, job: Job) -> int:
        time = self.waits(job)
        over = time is not None and self.session.cluster.now - job.creation >= time
        return PERMIT if over else ABSTAIN

    job_pipelined = job_enqueueable
