"""The state of queues and nodes at a step of a run."""

from planner.runs.models import Run
from planner.runs.models.outcome import DecisionState
from planner.runs.selectors.steps import Steps, decisions
from planning.moments import Moments
from planning.rows.stored import NODES, REQUESTS, SESSIONS


def moments_of(run: Run, cycle: int, taken: Steps | None = None) -> Moments | None:
    """Return the moments of one cycle of a run, None if its parts were not stored.

    3 queries, 1 less if the steps that the run has `taken` are given.
    """
    parts = {trace.part: trace for trace in run.traces.filter(part__in=(SESSIONS, NODES, REQUESTS))}
    if not parts:
        return None
    steps = [step for step in taken or decisions(run) if step.cycle == cycle]
    return Moments(
        session=next(session for session in parts[SESSIONS].payload() if session["cycle"] == cycle),
        nodes=parts[NODES].payload()[cycle - 1],
        requests=parts[REQUESTS].payload(),
        queue_of=dict(run.job_outcomes.values_list("job", "queue")),
        steps=[step for step in steps if step.state != DecisionState.FAILED],
    )
