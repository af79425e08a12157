"""Checklist of why reclaim or preempt did nothing for a starving job."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from scheduler_core.admission import Admission
from scheduler_core.conf import parse_conf
from scheduler_core.explain.checks import Check, enqueued, starves
from scheduler_core.explain.cycle_view import CycleView, Object
from scheduler_core.explain.gang_checks import gang_checks
from scheduler_core.explain.pod_checks import pod_checks
from scheduler_core.explain.reasons import reason
from scheduler_core.explain.turns import GANG_KINDS, Trial, Turn, try_alone, turn_of
from scheduler_core.explain.victims import evictions
from scheduler_core.explain.wording import agreed, counted
from scheduler_core.framework.session import Session
from scheduler_core.options import Options
from scheduler_core.release import release_of
from scheduler_core.simulate import Simulation

ACTIONS = ("reclaim", "preempt")
GANG_ACTIONS = tuple(GANG_KINDS)


def reclaim_checklist(
    document: Object, result: Object, job: str | None = None, *, cycle: int | None = None
) -> list[dict[str, Any]]:
    """Return what prevented the evicting actions from helping a job, or each starving job.

    The cycle is replayed up to the job's turn in each action, and the checks apply to the state at that
    point. Every check is evaluated as far as the previous ones allow. A job that is not enqueued is checked
    as if it were enqueued.

    Without `job`, every job that starved at the end of the cycle is checked.

    Returns
    -------
    list of dict
        Per job `job`, `queue`, `cycle` and `actions`: for reclaim, for preempt, and for gangreclaim and
        gangpreempt if they are configured, `action`, `evicted` (how many pods it evicted for the job),
        `stopped_at` (the first check that failed, empty if none did), `conclusion` (the reason of that check,
        else what the evictions made room for) and `checks` (id, passed, reason).

    Raises
    ------
    Unknown
        If the run does not have the job.

    """
    view = CycleView(document, result, cycle)
    jobs = [view.job(job)["name"]] if job is not None else _starving(view)
    configured = [action for action in GANG_ACTIONS if action in view.actions]
    actions = (*ACTIONS, *configured)
    simulation = _simulated(document, view) if jobs else None
    return [
        {
            "job": name,
            "queue": view.queue_of_job(name),
            "cycle": view.number,
            "actions": [_checklist_of(view, simulation, action, name) for action in actions],
        }
        for name in jobs
    ]


def _starving(view: CycleView) -> list[str]:
    return [
        entry["name"]
        for entry in view.cycle["podgroups"]
        if entry["task_status"].get("Pending") and not entry["session_job_ready"]
    ]


def _simulated(document: Object, view: CycleView) -> Simulation:
    """Return the simulation of a document, run up to the cycle of a view."""
    conf = parse_conf(document.get("scheduler_conf"), release_of(document))
    simulation = Simulation(document, conf, Admission(document), Options(cycles=view.number))
    simulation.reach(view.number)
    return simulation


def _checklist_of(view: CycleView, simulation: Simulation | None, action: str, job: str) -> dict[str, Any]:
    evicted = sum(entry["action"] == action and entry["for_job"] == job for entry in evictions(view))
    if simulation is None or action not in view.actions:
        checks = [Check(False, reason("check.action", f"Action {action} is not configured."))]
    else:
        checks = [
            Check(True, reason("check.action", f"Action {action} is configured.")),
            *_checks(partial(simulation.session_before, action), action, job),
        ]
    failed = [check for check in checks if not check.passed]
    return {
        "action": action,
        "evicted": evicted,
        "stopped_at": failed[0].reason["id"] if failed else "",
        "conclusion": (failed[0] if failed else checks[-1]).reason,
        "checks": [check.as_dict() for check in checks],
    }


def _checks(open_session: Callable[[], Session], action: str, key: str) -> list[Check]:
    """Return the checks of a job at its turn, or if it has no turn, at the start of the action."""
    rest_of = gang_checks if action in GANG_ACTIONS else pod_checks
    session = open_session()
    job = session.jobs[key]
    first = [enqueued(session, job), starves(session, job)]
    if job.is_pending:
        job.phase = "Inqueue"  # the other checks assume that the job is enqueued
        return [*first, *rest_of(session, action, job, searches=first[1].passed)]
    if not all(check.passed for check in first):
        return [*first, *rest_of(session, action, job, searches=False)]
    turn = turn_of(session, action, key)
    first = [enqueued(session, job), starves(session, job)]
    rest = list(rest_of(session, action, job, searches=first[1].passed))
    too_late = (
        _before_others(open_session(), action, key)
        if turn.evicted and not all(check.passed for check in rest)
        else None
    )
    return [*first, _turn(action, turn, too_late), *rest]


def _before_others(session: Session, action: str, key: str) -> Trial | None:
    """Return the trial of an action for a job in the first turn, None if it cannot complete the job."""
    trial = try_alone(session, action, session.jobs[key])
    return trial if trial.complete else None


def _turn(action: str, turn: Turn, too_late: Trial | None) -> Check:
    """Return whether the job was too late because earlier turns of other jobs used up what it needed."""
    numbers: dict[str, Any] = {"others": turn.others, "evicted": turn.evicted}
    if not turn.others:
        return Check(True, reason("check.turn", "No other job had its turn before it.", numbers))
    evicted = counted(turn.evicted, "pod") if turn.evicted else "no pod"
    text = (
        f"{counted(turn.others, 'other job')} had {agreed(turn.others, 'its turn', 'their turns')} before, "
        f"and {action} evicted {evicted} for {agreed(turn.others, 'it', 'them')}"
    )
    if too_late is None:
        return Check(True, reason("check.turn", f"{text}.", numbers))
    could = len(too_late.victims)
    text += (
        f"; in the first turn {action} would have evicted {counted(could, 'pod')} for this job and made room "
        f"for {counted(too_late.pods, 'pod')}."
    )
    return Check(False, reason("check.turn", text, {**numbers, "victims": could, "pods": too_late.pods}))
