"""A search that starts from what a forecast lacks."""

from typing import Any

from planner.experiments.selectors.offers import Offer
from planner.forecasts.models import Forecast
from planner.forecasts.selectors.verdicts import verdict_of
from planner.scenarios.models import Scenario
from planner.scenarios.selectors.scenarios import state_of
from planning.experiments.remedies import Json, larger_capabilities, search_of


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
        forecast.summary["evictions"],
        scenario=scenario.name,
        forecast=options,
        of_queue=offer.of_queue,
        capabilities=larger_capabilities(
            verdict.causes, {name: queue.capability for name, queue in state.queues.items()}
        ),
        node=next(iter(offer.nodes), ""),
        conf_text=state.conf_text,
    )
