"""The verdict on a forecast, from the figures of its record."""

from collections.abc import Mapping
from dataclasses import dataclass

from planner.forecasts.models import Forecast
from planner.forecasts.selectors.forecasts import drawn_waits, record_of
from planning.forecasts.causes import CauseRow, cause_rows
from planning.forecasts.figures import FlowRow, WaitRow, eviction_rows, flow_rows, wait_rows
from planning.forecasts.seeds import QueueOverSeeds, over_seeds
from planning.forecasts.service import Churn, FairnessRow, ServiceRow, churn, fairness_rows, service_rows
from planning.forecasts.usage import UseRow, use_rows
from planning.forecasts.verdict import Finding, utilisations, verdict
from planning.memory_cache import MemoryCache


@dataclass(frozen=True)
class Verdict:
    """The verdict with its figures: waits, causes, service, evictions, use of the nodes, fairness."""

    begin: str
    findings: list[Finding]
    queues: list[WaitRow]
    evictions: list[FlowRow]
    utilisation: Mapping[str, float]
    resources: list[UseRow]
    causes: list[CauseRow]
    service: list[ServiceRow]
    fairness: list[FairnessRow]
    churn: Churn
    seeds: list[QueueOverSeeds]


MOST_KEPT = 16
_cache: MemoryCache[Verdict] = MemoryCache(MOST_KEPT, lambda verdict: 1)


def verdict_of(forecast: Forecast) -> Verdict:
    """Return the verdict on a succeeded forecast, which never changes (no query if cached, else 2)."""
    return _cache.get(str(forecast.pk), lambda: _made(forecast))


def _made(forecast: Forecast) -> Verdict:
    record, targets = record_of(forecast), forecast.options["targets"]
    return Verdict(
        begin=record.begin,
        findings=verdict(record, targets),
        queues=wait_rows(record, targets),
        evictions=flow_rows(eviction_rows(record)),
        utilisation=utilisations(record),
        resources=use_rows(record),
        causes=cause_rows(record),
        service=service_rows(record),
        fairness=fairness_rows(record),
        churn=churn(record),
        seeds=over_seeds(drawn_waits(forecast)),
    )
