"""What did a search for what would unblock a job find?"""

from planner.models import Run
from planner.rows import Check, Checklist, Reason, Search, Unblocking


def search_of(run: Run, job: str) -> Run | None:
    """Return the newest search about a job of a run, None when there was none (1 query)."""
    return run.searches.filter(job=job).order_by("-created").first()


def found(search: Run) -> Search | None:
    """Return what a search found, None while it has not come to an answer (1 query)."""
    if search.state != Run.State.SUCCEEDED or search.result is None:
        return None
    told = search.result.document()
    return Search(
        **{name: told[name] for name in ("job", "waits", "simulations", "complete")},
        changes=[
            Unblocking(
                **{name: change[name] for name in ("id", "runs", "changes", "evicted", "stopped", "started")},
                reason=Reason(**change["reason"]),
            )
            for change in told["changes"]
        ],
        in_vain=[Reason(**reason) for reason in told["in_vain"]],
        checklist=[
            Checklist(
                **{name: entry[name] for name in ("action", "evicted", "stopped_at")},
                checks=[Check(check["passed"], Reason(**check["reason"])) for check in entry["checks"]],
            )
            for entry in told["checklist"]
        ],
    )
