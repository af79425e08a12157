"""A search that starts from what a forecast lacks."""

from typing import Any

import numpy as np

from planner.experiments.selectors.offers import Offer
from planner.forecasts.models import Forecast
from planner.forecasts.selectors.forecasts import record_of
from planner.forecasts.selectors.verdicts import Verdict, verdict_of
from planner.scenarios.models import Scenario
from planner.scenarios.selectors.scenarios import state_of
from planning.experiments.remedies import Json, larger_capabilities, node_for, search_of
from planning.forecasts.loops import evictions_outside_loops
from planning.forecasts.targets import submitted_in_time


def search_for(forecast: Forecast, scenario: Scenario, offer: Offer) -> Json | None:
    """Return a search for settings of a scenario that remove the harm of its forecast; None if there is none.

    It needs the trace of the forecast (as many queries as `verdict_of`, none for a cached snapshot).
    """
    if forecast.state != Forecast.State.SUCCEEDED or forecast.trace_id is None:
        return None
    state, verdict = state_of(scenario), verdict_of(forecast)
    options: dict[str, Any] = {**forecast.options, "trace": str(forecast.trace_id)}
    return search_of(
        verdict.findings,
        evictions_outside_loops(record_of(forecast)),
        scenario=scenario.name,
        forecast=options,
        of_queue=offer.of_queue,
        capabilities=larger_capabilities(
            verdict.causes, {name: queue.capability for name, queue in state.queues.items()}
        ),
        node=node_for(offer.nodes, _requested_devices(forecast, verdict)),
        conf_text=state.conf_text,
    )


def _requested_devices(forecast: Forecast, verdict: Verdict) -> list[str]:
    """Return the devices that the submitted jobs of queues which miss their wait target request."""
    record = record_of(forecast)
    late = [row.queue for row in verdict.queues if row.target_status == "missed"]
    rows = np.concatenate([np.empty(0, dtype=np.int64), *(submitted_in_time(record, name) for name in late)])
    return [name for name, sizes in record.jobs.sizes.items() if "/" in name and sizes[rows].any()]
