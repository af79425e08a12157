"""The trace and the prices of an experiment, which are frozen with it."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.db.models import Q

from planner.accounts.models import Workspace
from planner.errors import Invalid
from planner.forecasts.models import WorkloadTrace
from planner.forecasts.selectors.prices import prices_of
from planning.rows import Problem

Json = Mapping[str, Any]


def with_prices(forecast: Json, workspace: Workspace) -> Json:
    """Return the forecast of an experiment with the workspace's prices, unless it has its own."""
    prices = None if "prices" in forecast else prices_of(workspace)
    if prices is None:
        return forecast
    answer = {"pools": prices.pools, "resources": prices.resources, "currency": prices.currency}
    return {**forecast, "prices": answer}


def trace_of(written: Json, workspace: Workspace) -> WorkloadTrace | None:
    """Return the trace that an experiment names, None without one; raise Invalid."""
    named = (written.get("forecast") or {}).get("trace")
    if named is None:
        return None
    if not isinstance(named, str):
        raise _refused("The server does not read files.", "Upload the trace, and write its name or id.")
    try:
        by = Q(pk=UUID(named))
    except ValueError:
        by = Q(name=named)
    traces = WorkloadTrace.objects.select_related("source").filter(by, workspace=workspace)
    trace = traces.order_by("-created").first()
    if trace is None:
        raise _refused(
            f"The workspace has no trace {named!r}.", "Write the name of a trace on the page Traces."
        )
    return trace


def _refused(message: str, fix: str) -> Invalid:
    return Invalid(
        [Problem("experiment.trace", "error", message, path="forecast.trace", actual=None, fix=fix)]
    )
