"""What came of a run, and what has changed against the unchanged snapshot?"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from uuid import UUID

from planner.runs.models import Run, Trace
from planner.runs.selectors.explain import payload
from planning.traces import VERDICT
from planning.units import request_resources
from planning.verdict import Verdict, verdict_kept
from planning.verdict_lines import Line, verdict_lines


@dataclass(frozen=True)
class RunVerdict:
    """The verdict on a run, with that on its baseline where there is one; `notes` is what is not modelled."""

    verdict: Verdict
    lines: Sequence[Line]
    baseline: Run | None
    baseline_verdict: Verdict | None
    notes: Sequence[str]


def run_verdict(run: Run, baseline: Run | None) -> RunVerdict | None:
    """Return what came of a run beside its baseline, None where no verdict was kept (1 query, 2 with one)."""
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
    """Return the verdicts on runs by their outcomes, of those that kept one (1 query)."""
    outcomes = [run.outcome_id for run in runs if run.outcome_id]
    parts = Trace.objects.filter(outcome__in=outcomes, part=VERDICT)
    return {part.outcome_id: verdict_kept(part.payload()) for part in parts}


def baseline_of(run: Run) -> Run | None:
    """Return the run of the unchanged snapshot that came to an outcome, for this run (1 query)."""
    return run.searches.filter(is_baseline=True, state=Run.State.SUCCEEDED).order_by("-created").first()


def request_resources_of(run: Run) -> list[str]:
    """Return the resources that a pod on the nodes of a run is described by (1 query)."""
    verdict = _kept(run)
    return request_resources(use.resource for use in verdict.usage) if verdict else request_resources(())


def _kept(run: Run) -> Verdict | None:
    entry = payload(run, VERDICT)
    return None if entry is None else verdict_kept(entry)
