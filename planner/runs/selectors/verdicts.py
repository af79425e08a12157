"""The verdict on a run, and on its baseline."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from uuid import UUID

from planner.runs.models import Run, Trace
from planner.runs.selectors.explain import payload
from planning.rows.stored import VERDICT
from planning.units import request_resources
from planning.verdict import Verdict, verdict_kept
from planning.verdict_lines import Line, verdict_lines


@dataclass(frozen=True)
class RunVerdict:
    """The verdict on a run, with that of its baseline if there is one; `notes` is what is not modelled."""

    verdict: Verdict
    lines: Sequence[Line]
    baseline: Run | None
    baseline_verdict: Verdict | None
    notes: Sequence[str]


def run_verdict(run: Run, baseline: Run | None) -> RunVerdict | None:
    """Return the verdict on a run and on its baseline, None if not stored (1 query, 2 with a baseline)."""
    verdict = _kept(run)
    if verdict is None:
        return None
    before = None if baseline is None else _kept(baseline)
    return RunVerdict(
        verdict=verdict,
        lines=verdict_lines(verdict, before),
        baseline=baseline if before is not None else None,
        baseline_verdict=before,
        notes=run.notes,
    )


def verdicts_of(runs: Iterable[Run]) -> dict[UUID, Verdict]:
    """Return the stored verdicts on runs by outcome (1 query)."""
    outcomes = [run.outcome_id for run in runs if run.outcome_id]
    parts = Trace.objects.filter(outcome__in=outcomes, part=VERDICT)
    return {part.outcome_id: verdict_kept(part.payload()) for part in parts}


def baseline_of(run: Run) -> Run | None:
    """Return the baseline of a run if it has an outcome (1 query)."""
    return run.searches.filter(is_baseline=True, state=Run.State.SUCCEEDED).order_by("-created").first()


def request_resources_of(run: Run) -> list[str]:
    """Return the resources by which to describe a pod for the nodes of a run (1 query)."""
    verdict = _kept(run)
    return request_resources(use.resource for use in verdict.usage) if verdict else request_resources(())


def _kept(run: Run) -> Verdict | None:
    entry = payload(run, VERDICT)
    return None if entry is None else verdict_kept(entry)
