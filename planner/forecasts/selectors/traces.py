"""Workload traces and their preview."""

from uuid import UUID

from django.db.models import QuerySet

from planner.accounts.models import User
from planner.accounts.selectors.workspaces import visible
from planner.forecasts.models import WorkloadTrace
from planning.forecasts.preview import Preview, preview
from planning.forecasts.trace_texts import read_workload


def traces(user: User) -> QuerySet[WorkloadTrace]:
    """Return the traces that an account may see, newest first (1 query)."""
    return visible(WorkloadTrace.objects.select_related("workspace", "owner"), user)


def get_trace(user: User, trace_id: UUID) -> WorkloadTrace:
    """Return a trace, or raise WorkloadTrace.DoesNotExist (1 query)."""
    return traces(user).get(pk=trace_id)


def trace_preview(trace: WorkloadTrace) -> Preview:
    """Return the arrivals and sizes of a trace (1 query)."""
    read, _ = read_workload(trace.source.content().decode(), trace.format)
    assert read is not None, "only readable traces are stored"
    return preview(read.trace)
