"""What stands on the first page?"""

from django.db.models import OuterRef, QuerySet, Subquery

from planner.accounts.models import User, Workspace
from planner.runs.models import Run
from planner.runs.selectors.runs import runs
from planner.scenarios.models import Scenario
from planner.scenarios.selectors.scenarios import scenarios


def scenarios_with_last_run(user: User, workspace: Workspace | None) -> QuerySet[Scenario]:
    """Return the scenarios of a workspace, last changed first, each with its newest run (1 query)."""
    newest = Run.objects.filter(scenario=OuterRef("pk"), explains=None).order_by("-created")
    return (
        scenarios(user)
        .filter(workspace=workspace)
        .annotate(
            last_run_id=Subquery(newest.values("pk")[:1]), last_run_state=Subquery(newest.values("state")[:1])
        )
    )


def recent_runs(user: User, workspace: Workspace | None, limit: int = 12) -> QuerySet[Run]:
    """Return the newest runs of a workspace (1 query)."""
    return runs(user).filter(workspace=workspace)[:limit]


def scenario_runs(scenario: Scenario, limit: int = 12) -> QuerySet[Run]:
    """Return the newest runs of a scenario (1 query)."""
    return scenario.runs.filter(explains=None).order_by("-created")[:limit]
