"""Forecasts and their results."""

from uuid import UUID

from django.db.models import QuerySet

from planner.accounts.models import User
from planner.accounts.selectors.workspaces import visible
from planner.forecasts.models import Forecast
from planner.scenarios.models import Scenario
from planner.scenarios.selectors.scenarios import state_of
from planning.forecasts.comparison import Comparison, compared
from planning.forecasts.parts import LOG, RECORD, SEEDS
from planning.forecasts.record import Record
from planning.forecasts.seeds import QueueChange, SeedRow, change_over_seeds, same_draws
from planning.forecasts.storage import unpacked
from planning.forecasts.trace_texts import queues_for_jobs
from planning.memory_cache import MemoryCache
from planning.rows.stored import payload_of

KEPT_BYTES = 40_000_000
"""The most packed bytes of records that a process caches unpacked."""

_cache: MemoryCache[Record] = MemoryCache(KEPT_BYTES, lambda record: 1_000_000 + 200 * len(record.jobs.names))


def forecasts(user: User) -> QuerySet[Forecast]:
    """Return the forecasts that an account may see, newest first, without results (1 query)."""
    present = Forecast.objects.filter(scenario__removed=None)
    return visible(present.select_related("workspace", "scenario", "owner", "trace"), user)


def get_forecast(user: User, forecast_id: UUID) -> Forecast:
    """Return a forecast with its scenario, or raise Forecast.DoesNotExist (1 query)."""
    return forecasts(user).get(pk=forecast_id)


def record_of(forecast: Forecast) -> Record:
    """Return the record of a succeeded forecast (no query if cached, else 1)."""

    def read() -> Record:
        return unpacked(bytes(forecast.parts.get(part=RECORD).packed))

    return _cache.get(str(forecast.pk), read)


def decisions_at(forecast: Forecast, time: float) -> list[dict[str, str]]:
    """Return the decisions of the last session up to a time that made any (1 query)."""
    log = payload_of(forecast.parts.get(part=LOG).packed)
    before = [entry for entry in log if entry["t"] <= time]
    return before[-1]["decisions"] if before and before[-1]["t"] == time else []


def drawn_waits(forecast: Forecast) -> list[SeedRow]:
    """Return the waits of a succeeded forecast under drawn workloads, if it has any (at most 1 query)."""
    part = forecast.parts.filter(part=SEEDS).first() if forecast.options.get("seeds") else None
    return [] if part is None else [SeedRow(**row) for row in payload_of(part.packed)]


def changes_over_seeds(before: Forecast, after: Forecast) -> list[QueueChange]:
    """Return how waits change under drawn workloads; empty unless both have the same ones (2 queries)."""
    if before.workload_id != after.workload_id or not same_draws(before.options, after.options):
        return []
    return change_over_seeds(drawn_waits(before), drawn_waits(after))


def scenario_forecasts(scenario: Scenario, limit: int = 20) -> QuerySet[Forecast]:
    """Return the newest forecasts of a scenario (1 query)."""
    return scenario.forecasts.order_by("-created")[:limit]


def scenario_leaves(scenario: Scenario) -> list[str]:
    """Return the leaf queues of a scenario (2 queries)."""
    return queues_for_jobs(state_of(scenario).ordered_queues())


def two_forecasts(user: User, first: UUID, second: UUID) -> tuple[Forecast, Forecast, Comparison | None]:
    """Return two forecasts, older first, and their pairs; None if one has no result."""
    before, after = sorted(
        (get_forecast(user, first), get_forecast(user, second)), key=lambda forecast: forecast.created
    )
    if any(forecast.state != Forecast.State.SUCCEEDED for forecast in (before, after)):
        return before, after, None
    return before, after, compared(record_of(before), record_of(after))
