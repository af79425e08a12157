"""Rebases by workers."""

from uuid import UUID

from django.db.models import QuerySet

from planner.accounts.models import User
from planner.accounts.selectors.workspaces import visible
from planner.scenarios.models import Rebase, Scenario
from planning.rows import Problem


def rebases(user: User) -> QuerySet[Rebase]:
    """Return the rebases that an account may see, newest first (1 query)."""
    there = Rebase.objects.filter(scenario__removed=None)
    related = ("workspace", "owner", "scenario", "scenario__snapshot", "snapshot", "branch")
    return visible(there.select_related(*related), user)


def get_rebase(user: User, rebase_id: UUID) -> Rebase:
    """Return a rebase, or raise Rebase.DoesNotExist (1 query)."""
    return rebases(user).get(pk=rebase_id)


def rebases_at_work(scenario: Scenario) -> QuerySet[Rebase]:
    """Return the unfinished rebases of a scenario, newest first (1 query)."""
    return scenario.rebases.exclude(state__in=Rebase.OVER).select_related("snapshot")


def problems_of(rebase: Rebase) -> list[Problem]:
    """Return why a rebase created no branch."""
    return [Problem(**found) for found in rebase.problems]
