"""May a workspace keep more?"""

from planner.accounts.models import Workspace
from planner.clusters.selectors.usage import usage
from planner.errors import QuotaExceeded
from planning.rows import Problem


def room_require(*, workspace: Workspace) -> None:
    """Raise QuotaExceeded, with what to delete, when the workspace is full (6 queries)."""
    kept = usage(workspace)
    if kept.is_full:
        message = (
            f"Workspace {workspace} keeps {kept.total / 1e6:,.0f} MB of {kept.quota / 1e6:,.0f} MB:"
            f" {kept.runs / 1e6:,.0f} MB of runs, {kept.snapshots / 1e6:,.0f} MB of snapshots."
        )
        what = "runs" if kept.runs >= kept.snapshots else "snapshots"
        fix = f"Delete old {what} on the workspace's page Storage, or have QUEUECAST_WORKSPACE_MB raised."
        raise QuotaExceeded(Problem("storage.quota", "error", message, actual=kept.total, fix=fix))
