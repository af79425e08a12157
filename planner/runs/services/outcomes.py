"""How is the outcome of a run kept?"""

from collections.abc import Sequence
from dataclasses import asdict
from typing import TypeVar

from planner.runs.models import JobOutcome, Outcome, QueueOutcome, Trace, Victim
from planning.outcomes import Rows

Row = TypeVar("Row", QueueOutcome, JobOutcome, Victim, Trace)


def outcome_keep(rows: Rows) -> Outcome:
    """Save the rows of a result under a new outcome, and return that."""
    outcome = Outcome.objects.create(counts=asdict(rows.counts))
    _keep(QueueOutcome, [QueueOutcome(**columns) for columns in rows.queues], outcome)
    _keep(JobOutcome, [JobOutcome(**columns) for columns in rows.jobs], outcome)
    _keep(Victim, [Victim(**columns) for columns in rows.victims], outcome)
    _keep(Trace, [Trace(**asdict(part)) for part in rows.parts], outcome)
    return outcome


def _keep(model: type[Row], rows: Sequence[Row], outcome: Outcome) -> None:
    for row in rows:
        row.outcome = outcome
    model._default_manager.bulk_create(rows, batch_size=1000)
