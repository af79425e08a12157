"""Forecasts: replays with their frozen input and their results."""

from django.db import models

from planner.accounts.models.workspace import Identified
from planner.clusters.models.snapshot import Blob
from planner.forecasts.models.trace import WorkloadTrace
from planner.scenarios.models.scenario import Scenario
from planner.work.models.work import Work


class Forecast(Work):
    """One replay of a scenario's revision under a workload.

    Its input is frozen: the scenario document, the text of the trace and the options. A worker builds the
    document of the replay from these three, so that a trace of many jobs is stored once.
    """

    scenario = models.ForeignKey(Scenario, on_delete=models.CASCADE, related_name="forecasts")
    scenario_revision = models.PositiveIntegerField()
    input = models.ForeignKey(
        Blob,
        on_delete=models.PROTECT,
        related_name="forecasts_of_scenario",
        help_text="The scenario document.",
    )
    trace = models.ForeignKey(WorkloadTrace, null=True, on_delete=models.SET_NULL, related_name="forecasts")
    trace_name = models.CharField(max_length=253, blank=True)
    workload = models.ForeignKey(
        Blob, on_delete=models.PROTECT, related_name="forecasts_of_trace", help_text="The text of the trace."
    )
    options = models.JSONField(default=dict, help_text="Clock, delays, evictions, mapping, changes, targets.")

    estimate = models.JSONField(
        default=dict, help_text="The estimated duration, set when it begins; empty before."
    )
    simulated_seconds = models.FloatField(default=0.0, help_text="The time of the virtual clock.")
    jobs_done = models.PositiveIntegerField(default=0)
    sessions_per_second = models.FloatField(default=0.0)
    resumed_at = models.FloatField(
        null=True, help_text="The simulated second from which a later attempt continued; null: none did."
    )

    notes = models.JSONField(default=list, help_text="What it leaves out and assumes, one sentence each.")
    summary = models.JSONField(default=dict, help_text="A summary of its figures; empty until it succeeded.")
    engine_version = models.CharField(max_length=60, blank=True)
    timings = models.JSONField(default=dict, help_text="Measured times, in milliseconds.")

    @property
    def horizon_seconds(self) -> float:
        """The length of the forecast in seconds."""
        return float(self.options["horizon_seconds"])


class ForecastPart(Identified):
    """A compressed part of a forecast's result, or the state from which it continues."""

    FROZEN = "frozen"

    forecast = models.ForeignKey(Forecast, on_delete=models.CASCADE, related_name="parts")
    part = models.CharField(max_length=20)
    key = models.CharField(max_length=253, blank=True, help_text="Distinguishes several parts of one kind.")
    packed = models.BinaryField()
    size = models.PositiveBigIntegerField(help_text="Bytes when unpacked.")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["forecast", "part", "key"], name="part_once_a_forecast")
        ]

    def __str__(self) -> str:
        return f"{self.part} {self.key}".strip()
