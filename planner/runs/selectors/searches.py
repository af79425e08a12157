"""What did a search for what would unblock a job find?"""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from planner.runs.models import Run
from planning.rows import Check, Checklist, Reason, Search, Unblocking


def search_of(run: Run, job: str) -> Run | None:
    """Return the newest search about a job of a run, None when there was none (1 query)."""
    return run.searches.filter(job=job, new_release="").order_by("-created").first()


def found(search: Run) -> Search | None:
    """Return what a search found, or has found so far; None while that is nothing (1 query at its end)."""
    if search.state == Run.State.SUCCEEDED and search.result is not None:
        return _search(search.result.document())
    return _search(search.found_so_far) if search.found_so_far else None


def _search(told: Mapping[str, Any]) -> Search:
    return Search(
        **{name: told[name] for name in ("job", "waits", "simulations", "complete")},
        stopped=Reason(**told["stopped"]) if told["stopped"] else None,
        changes=[_unblocking(change) for change in told["changes"]],
        not_enough=[Reason(**reason) for reason in told["not_enough"]],
        checklist=[
            Checklist(
                **{name: entry[name] for name in ("action", "evicted", "stopped_at")},
                conclusion=Reason(**entry["conclusion"]) if entry.get("conclusion") else None,
                checks=[Check(check["passed"], Reason(**check["reason"])) for check in entry["checks"]],
            )
            for entry in told.get("checklist", ())
        ],
    )


def _unblocking(change: Mapping[str, Any]) -> Unblocking:
    kept = {field.name: change[field.name] for field in fields(Unblocking)}
    return Unblocking(**{**kept, "reason": Reason(**change["reason"])})
