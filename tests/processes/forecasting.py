"""Steps of tests about forecasts, including a kill of a worker during a forecast."""

import hashlib
import os
import signal
import time
from collections.abc import Iterator
from typing import Any

from django.db import DatabaseError, connections

from planner.forecasts.models import Forecast
from planner.forecasts.services.forecasts import forecast_create
from planner.forecasts.services.replays import frozen_state
from tests import factories

PATIENCE = float(os.environ.get("DRIVER_PATIENCE", "90"))
ATTEMPTS = 10
"""Attempts to kill a worker at a short-lived moment."""
JOBS = 3000
OPTIONS = {"horizon_seconds": 10.0 * JOBS, "period_seconds": 1.0, "rest": "waits"}


def queue_forecast() -> str:
    """Queue a forecast that takes a child process a while, always with the same input; return its id."""
    return str(_submitted().pk)


def kill_during_forecast(group: str) -> tuple[str, float]:
    """Kill the worker's process group once a forecast's state is stored; return its id and that second.

    A worker may finish before this process checks again; then it gets the next forecast.
    """
    for _ in range(ATTEMPTS):
        forecast = _submitted()
        for _ in _until_late():
            if Forecast.objects.get(pk=forecast.pk).is_over or _kept(forecast):
                break
            time.sleep(0.01)
        os.killpg(int(group), signal.SIGSTOP)
        if not Forecast.objects.get(pk=forecast.pk).is_over and _kept(forecast):
            os.killpg(int(group), signal.SIGKILL)
            return str(forecast.pk), Forecast.objects.get(pk=forecast.pk).simulated_seconds
        os.killpg(int(group), signal.SIGCONT)
    raise TimeoutError(f"The worker was faster {ATTEMPTS} times.")


def await_forecast(forecast_id: str) -> dict[str, Any]:
    """Wait until a forecast is over; return its outcome, with a hash of everything that is stored."""
    for _ in _until_late():
        try:
            forecast = Forecast.objects.get(pk=forecast_id)
        except DatabaseError:
            connections.close_all()
        else:
            if forecast.is_over:
                return _ending(forecast)
        time.sleep(0.1)
    raise TimeoutError(list(Forecast.objects.values("pk", "state", "error", "progress", "attempt")))


def _submitted() -> Forecast:
    empty = {**factories.cluster(nodes=4), "podgroups": [], "pods": []}
    lines = (
        f"j{number},{('busy', 'waits')[number % 2]},{number * 9},{50 + number % 90},1,1Gi\n"
        for number in range(JOBS)
    )
    text = "name,queue,submit_seconds,run_seconds,cpu,memory\n" + "".join(lines)
    scenario = factories.scenario(document=empty)
    return forecast_create(scenario=scenario, trace=factories.workload(text), options=OPTIONS)


def _kept(forecast: Forecast) -> bool:
    """Return whether a state is stored, other than one of the beginning, as on a busy machine."""
    state = frozen_state(forecast)
    return state is not None and state["end"] > 0.0


def _ending(forecast: Forecast) -> dict[str, Any]:
    parts = sorted((part.part, part.key, bytes(part.packed)) for part in forecast.parts.all())
    return {
        "state": forecast.state,
        "error": forecast.error,
        "attempt": forecast.attempt,
        "losses": forecast.losses,
        "resumed_at": forecast.resumed_at,
        "result": forecast.summary.get("result_sha256"),
        "parts": [[part, hashlib.sha256(packed).hexdigest()] for part, _, packed in parts],
    }


def _until_late() -> Iterator[None]:
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        yield
