"""Plugin resourcequota: enqueue a job only if its minResources fit the quotas of its namespace.

Source: volcano ``pkg/scheduler/plugins/resourcequota/resourcequota.go`` at v1.15.1.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any, NamedTuple

from scheduler_core.conf import Arguments
from scheduler_core.decision import Why
from scheduler_core.framework.extension_points import PERMIT, REJECT, Vote
from scheduler_core.framework.session import Session
from scheduler_core.model.job import JobInfo
from scheduler_core.quantity import parse_quantity
from scheduler_core.release import Rule
from scheduler_core.resource import MEMORY, PODS

NAME = "resourcequota"

Amounts = Mapping[str, Fraction]


class Quota(NamedTuple):
    """The status of one ResourceQuota, as exact Kubernetes quantities by resource name."""

    name: str
    hard: Amounts
    used: Amounts


def open_session(session: Session, _arguments: Arguments) -> None:
    """Register the callbacks of resourcequota."""
    votes = ResourceQuotaVotes(
        quotas_by_namespace(session.snapshot.cluster.resource_quotas),
        reserves_when_enqueued=session.release.follows(Rule.RESERVE_WHEN_ENQUEUED),
    )
    session.registry.add_job_enqueueable(NAME, votes.job_enqueueable)
    if votes.reserves_when_enqueued:
        session.registry.add_job_enqueued(NAME, votes.reserve)


def quotas_by_namespace(objects: Iterable[Mapping[str, Any]]) -> dict[str, list[Quota]]:
    """Return the quotas of each namespace, by name; scopes are ignored."""
    quotas: dict[str, list[Quota]] = {}
    for entry in sorted(objects, key=lambda entry: str(entry["metadata"]["name"])):
        status = entry.get("status") or {}
        quota = Quota(entry["metadata"]["name"], _exact(status.get("hard")), _exact(status.get("used")))
        quotas.setdefault(entry["metadata"].get("namespace") or "default", []).append(quota)
    return quotas


def _exact(amounts: Mapping[str, object] | None) -> dict[str, Fraction]:
    return {name: parse_quantity(quantity) for name, quantity in sorted((amounts or {}).items())}


def _scaled(name: str, amount: Fraction) -> float:
    """Return an amount in the scheduler's units."""
    return float(amount if name in (MEMORY, PODS) else amount * 1000)


class ResourceQuotaVotes:
    """The quotas, and the minResources of the jobs permitted in this session.

    Attributes
    ----------
    pending : dict
        The minResources of permitted jobs, by namespace and resource name; added at the vote, regardless of
        the votes of other plugins, or once the job is enqueued.

    """

    def __init__(self, quotas: Mapping[str, list[Quota]], *, reserves_when_enqueued: bool = False) -> None:
        self.quotas = quotas
        self.reserves_when_enqueued = reserves_when_enqueued
        self.pending: dict[str, dict[str, Fraction]] = defaultdict(dict)

    def job_enqueueable(self, job: JobInfo, why: Why) -> Vote:
        """Permit a job whose minResources, with used and pending ones, fit all quotas of its namespace."""
        if job.min_resources is None or job.namespace not in self.quotas:
            return PERMIT
        minimum = _exact(job.podgroup["spec"]["minResources"])
        pending = self.pending[job.namespace]
        for quota in self.quotas[job.namespace]:
            for name, required in minimum.items():
                if name not in quota.hard:
                    continue
                available = (
                    quota.hard[name] - quota.used.get(name, Fraction(0)) - pending.get(name, Fraction(0))
                )
                if required > available:
                    why["event"] = f"resource quota insufficient: {name} of ResourceQuota {quota.name}"
                    why.update(
                        resource=name,
                        required=_scaled(name, required),
                        available=_scaled(name, available),
                        missing=_scaled(name, required - available),
                        limit={name: _scaled(name, quota.hard[name])},
                        quota=f"{job.namespace}/{quota.name}",
                        message=f"ResourceQuota {job.namespace}/{quota.name} has too little {name} left",
                    )
                    return REJECT
        if not self.reserves_when_enqueued:
            self.reserve(job)
        return PERMIT

    def reserve(self, job: JobInfo) -> None:
        """Add a job's minResources to the pending ones of its namespace."""
        if job.min_resources is None or job.namespace not in self.quotas:
            return
        pending = self.pending[job.namespace]
        for name, required in _exact(job.podgroup["spec"]["minResources"]).items():
            pending[name] = pending.get(name, Fraction(0)) + required
