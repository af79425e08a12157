"""Recovery of runs from dead workers."""

from datetime import timedelta

import pytest
from django.utils import timezone

from planner.runs.models import Run
from planner.work.lifecycle import work_cancel, work_claim, work_heartbeat, work_release
from planner.work.recovery import work_recover, worker_lost
from planner.work.turns import has_queued_work
from tests import factories

pytestmark = pytest.mark.django_db


def claimed(worker: str = "w") -> Run:
    run = factories.run()
    assert work_claim(kind=Run, id=run.pk, worker=worker)
    return run


def expire_lease(run: Run) -> None:
    Run.objects.filter(pk=run.pk).update(lease_until=timezone.now() - timedelta(seconds=1))


def state_and_losses(run: Run) -> tuple[str, int]:
    run.refresh_from_db()
    return run.state, run.losses


def end_back_off(run: Run) -> None:
    Run.objects.filter(pk=run.pk).update(not_before=timezone.now() - timedelta(seconds=1))


def test_a_run_with_an_expired_lease_is_requeued_with_a_back_off() -> None:
    run = claimed()
    expire_lease(run)
    work_recover()
    assert state_and_losses(run) == ("queued", 1)
    assert not has_queued_work()
    end_back_off(run)
    assert has_queued_work()


def test_the_back_off_doubles_after_each_lost_worker(settings) -> None:
    run = factories.run()
    waits = []
    for _ in range(settings.RUN_MAX_LOSSES - 1):
        assert work_claim(kind=Run, id=run.pk, worker="w")
        expire_lease(run)
        before = timezone.now()
        work_recover()
        run.refresh_from_db()
        assert run.not_before is not None
        waits.append((run.not_before - before).total_seconds() / settings.RUN_BACK_OFF_SECONDS)
        end_back_off(run)
    assert [round(wait) for wait in waits] == [1, 2]


def test_a_run_with_a_valid_lease_is_not_recovered() -> None:
    run = claimed()
    work_recover()
    assert state_and_losses(run) == ("running", 0)


def test_a_cancelled_run_of_a_lost_worker_ends_as_cancelled() -> None:
    run = claimed()
    work_cancel(work=run)
    expire_lease(run)
    work_recover()
    assert state_and_losses(run) == ("cancelled", 0)


def test_a_run_that_loses_too_many_workers_fails(settings) -> None:
    run = factories.run()
    for _ in range(settings.RUN_MAX_LOSSES):
        assert work_claim(kind=Run, id=run.pk, worker="w")
        expire_lease(run)
        work_recover()
    assert state_and_losses(run) == ("failed", settings.RUN_MAX_LOSSES)
    assert "lost 3 times" in run.error


def test_runs_of_a_worker_known_to_be_dead_are_requeued_at_once() -> None:
    dead, alive = claimed("dead"), claimed("alive")
    worker_lost("dead")
    assert state_and_losses(dead) == ("queued", 1)
    assert state_and_losses(alive) == ("running", 0)


def test_a_released_run_can_be_claimed_again() -> None:
    run = factories.run()
    claim = work_claim(kind=Run, id=run.pk, worker="w")
    assert claim
    assert not has_queued_work()
    work_release(claim=claim)
    assert has_queued_work()
    assert state_and_losses(run) == ("queued", 0)


def test_a_heartbeat_extends_the_lease(settings) -> None:
    run = factories.run()
    claim = work_claim(kind=Run, id=run.pk, worker="w")
    assert claim
    expire_lease(run)
    work_heartbeat(claim=claim, progress=0.5, doing="allocate")
    work_recover()
    run.refresh_from_db()
    assert (run.state, run.progress, run.doing) == ("running", 0.5, "allocate")
