"""How does a run move from queued to its end? Only from here, a worker only under its own attempt."""

import enum
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import F, QuerySet
from django.utils import timezone

from planner.engine.contents import content_of
from planner.engine.frozen import frozen_input
from planner.engine.outcomes import Outcome
from planner.engine.revisions import state_of
from planner.models import Blob, Run, Scenario
from planner.services.clock import seconds_from_now
from planner.services.members import role_require

State = Run.State


def run_create(
    *, scenario: Scenario, options: Mapping[str, Any] | None = None, user: User | None = None
) -> Run:
    """Freeze the scenario's present revision and queue a run of it.

    `options`: `cycles` (1) and `explain` (true). Interfaces call `planner.tasks.submit_run`.
    """
    role_require(user=user, workspace=scenario.workspace)
    asked = {"cycles": 1, "explain": True, **(options or {})}
    with transaction.atomic():
        present = Scenario.objects.select_for_update().select_related("snapshot__content").get(pk=scenario.pk)
        state = state_of(present)
    frozen = frozen_input(
        content_of(present.snapshot).document,
        name=present.name,
        queues=state.ordered_queues(),
        conf_text=state.conf_text,
        options=asked,
        overlay=state.objects,
    )
    return run_queue(scenario=present, content=Blob.of(frozen), options=asked, user=user)


@transaction.atomic
def run_queue(
    *, scenario: Scenario, content: Blob, options: Mapping[str, Any], user: User | None = None
) -> Run:
    """Queue a run over an input that is frozen already."""
    role_require(user=user, workspace=scenario.workspace)
    return Run.objects.create(
        workspace=scenario.workspace,
        scenario=scenario,
        scenario_revision=scenario.revision,
        owner=user,
        options=dict(options),
        input=content.keep(),
    )


def run_cancel(*, run: Run, user: User | None = None) -> Run:
    """Cancel a queued run at once, ask a running one to stop, leave one that is over; return it fresh."""
    role_require(user=user, workspace=run.workspace)
    waiting = Run.objects.filter(pk=run.pk, state=State.QUEUED)
    if not waiting.update(state=State.CANCELLED, cancel_requested=True, finished=timezone.now()):
        Run.objects.filter(pk=run.pk, state=State.RUNNING).update(cancel_requested=True)
    run.refresh_from_db()
    return run


@dataclass(frozen=True)
class Claim:
    """A worker's right to write to a run: it holds until the lease runs out or somebody else claims."""

    run_id: UUID
    attempt: int

    def mine(self) -> QuerySet[Run]:
        """Return the run, or nothing once this worker has lost it."""
        return Run.objects.filter(pk=self.run_id, attempt=self.attempt, state=State.RUNNING)


class Beat(enum.Enum):
    """What a heartbeat learned."""

    GO_ON = "go on"
    CANCEL = "cancel"
    LOST = "lost"


@transaction.atomic
def run_claim(*, run_id: UUID, worker: str) -> Claim | None:
    """Take a queued run with a lease, or return None when there is nothing to take."""
    now = timezone.now()
    claimed = Run.objects.filter(pk=run_id, state=State.QUEUED).update(
        state=State.RUNNING,
        attempt=F("attempt") + 1,
        worker=worker,
        started=now,
        heartbeat=now,
        lease_until=seconds_from_now(settings.RUN_LEASE_SECONDS),
        progress=0.0,
        doing="starting",
    )
    if not claimed:
        return None
    return Claim(run_id, Run.objects.values_list("attempt", flat=True).get(pk=run_id))


def run_heartbeat(*, claim: Claim, progress: float, doing: str) -> Beat:
    """Renew the lease and tell how far the run is; learn whether to go on."""
    renewed = claim.mine().update(
        heartbeat=timezone.now(),
        lease_until=seconds_from_now(settings.RUN_LEASE_SECONDS),
        progress=progress,
        doing=doing[:100],
    )
    if not renewed:
        return Beat.LOST
    return Beat.CANCEL if claim.mine().filter(cancel_requested=True).exists() else Beat.GO_ON


@transaction.atomic
def run_finish(
    *, claim: Claim, result: Blob, outcome: Outcome, timings: Mapping[str, float], engine_version: str
) -> bool:
    """Store the result with its rows and end the run, or nothing at all; was the run still this worker's?"""
    run = claim.mine().select_for_update().first()
    if run is None:
        return False
    outcome.keep(run)
    run.result = result.keep()
    run.engine_version = engine_version
    run.timings = dict(timings)
    _end(run, State.SUCCEEDED)
    return True


@transaction.atomic
def run_fail(
    *,
    claim: Claim,
    error: str,
    result: Blob | None = None,
    timings: Mapping[str, float] | None = None,
    engine_version: str = "",
) -> bool:
    """End the run with the reason why it failed; was it still this worker's?"""
    run = claim.mine().select_for_update().first()
    if run is None:
        return False
    run.error = error
    run.result = result.keep() if result else None
    run.timings = dict(timings or {})
    run.engine_version = engine_version
    _end(run, State.FAILED)
    return True


def run_stop(*, claim: Claim) -> bool:
    """End a run that was asked to stop; was it still this worker's?"""
    return bool(
        claim.mine().update(state=State.CANCELLED, finished=timezone.now(), lease_until=None, doing="")
    )


def run_release(*, claim: Claim) -> bool:
    """Put a run back because its worker is going away; was it still this worker's?

    This is no loss: it does not count towards the limit of lost workers.
    """
    return bool(claim.mine().update(state=State.QUEUED, lease_until=None, worker="", progress=0.0, doing=""))


def _end(run: Run, state: str) -> None:
    run.state = state
    run.finished = timezone.now()
    run.lease_until = None
    run.progress = 1.0 if state == State.SUCCEEDED else run.progress
    run.doing = ""
    run.save(
        update_fields=[
            "state", "finished", "lease_until", "progress", "doing",
            "error", "result", "timings", "engine_version",
        ]
    )  # fmt: skip
