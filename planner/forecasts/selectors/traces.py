"""Workload traces."""

from uuid import UUID

from django.db.models import QuerySet

from planner.accounts.models import User
from planner.accounts.selectors.workspaces import visible
from planner.forecasts.models import WorkloadTrace


def traces(user: User) -> QuerySet[WorkloadTrace]:
    """Return the traces that an account may see, newest first, without their previews (1 query)."""
    return visible(WorkloadTrace.objects.select_related("workspace", "owner").defer("preview"), user)


def get_trace(user: User, trace_id: UUID) -> WorkloadTrace:
    """Return a trace, or raise WorkloadTrace.DoesNotExist (1 query)."""
    return traces(user).get(pk=trace_id)
