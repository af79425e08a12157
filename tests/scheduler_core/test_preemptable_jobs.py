"""Recognition of preemptors for which no job can lose a task."""

from __future__ import annotations

import pytest

from scheduler_core.actions.preempt import Preempt
from scheduler_core.framework.statement import Statement
from scheduler_core.framework.worklist import pending_tasks
from scheduler_core.replay import Replay
from scheduler_core.validate import Inspection
from scheduler_core.victims.preemptable_jobs import PreemptableJobs
from tests.builders import Object
from tests.scheduler_core.replays import CONFS, crowded_replay
from tests.scheduler_core.test_lines import TREE
from tests.trials import trials


def preempting(seed: int) -> Object:
    chosen = (TREE, CONFS[seed % len(CONFS)])[seed % 2]
    return {**crowded_replay(f"losers {seed}"), "scheduler_conf": chosen}


@pytest.mark.parametrize("seed", trials(range(6), always=3))
def test_index_kept_across_sessions_equals_a_new_one(seed: int) -> None:
    document = preempting(seed)
    replay, requested = Replay(document, Inspection(document)), 0
    for _ in replay.steps():
        replay.moment()
        session = replay.simulation.open_session()
        kept, anew = session.view(PreemptableJobs), PreemptableJobs(session)
        for job in session.jobs.values():
            requested += 1
            assert kept.none_for(job) == anew.none_for(job)
    assert requested > 50


@pytest.mark.parametrize("seed", trials(range(4), always=2))
def test_preempt_never_succeeds_for_a_job_without_possible_victims(seed: int) -> None:
    document = preempting(seed)
    replay, hopeless = Replay(document, Inspection(document)), 0
    for _ in replay.steps():
        replay.moment()
        session = replay.simulation.open_new(replay.simulation.open_session().snapshot)
        preempt = Preempt(session)
        for job in session.jobs.values():
            if job.is_pending or not session.plugins.job_starving(job) or not preempt._gains_nothing(job):
                continue
            for task in pending_tasks(job):
                hopeless += 1
                statement, queue = Statement(session), session.queues[job.queue]
                for among in (preempt.other_jobs, preempt.same_job):
                    assert not preempt.attempt(statement, queue, task, among)
                assert not statement.operations
    assert hopeless > 0
