"""The data of a forecast's page; each part is computed when the template uses it."""

from functools import cached_property
from typing import Any
from urllib.parse import urlencode

import numpy as np
from django.http import QueryDict

from planner.clusters.models import Snapshot
from planner.forecasts import charts, job_charts, wait_charts
from planner.forecasts.forms.forecasts import PricesForm
from planner.forecasts.models import Backtest, Forecast
from planner.forecasts.selectors.backtests import backtests_beside, later_snapshots
from planner.forecasts.selectors.forecasts import record_of
from planner.forecasts.selectors.jobs import JobsInOrder
from planner.forecasts.selectors.prices import prices_of
from planner.forecasts.selectors.verdicts import Verdict, verdict_of
from planner.web.templatetags.quantities import resource_order
from planner.web.views.listing import Listing
from planning.experiments.remedies import goals_of
from planning.forecasts.brief import beyond_first
from planning.forecasts.changes import Timed, timed_changes
from planning.forecasts.costs import Costs, Prices, costs
from planning.forecasts.curves import (
    Curve,
    curves,
    part_curve,
    room_curves,
    stack_curves,
    use_curves,
    waiting_curves,
    window_of,
)
from planning.forecasts.figures import EvictionRow, eviction_rows, started_waits
from planning.forecasts.record import Record
from planning.forecasts.steps import Floats
from planning.forecasts.typed_changes import Timeline, timeline
from planning.forecasts.verdict import Finding, utilisations

MOST_QUEUES = 12
"""The number of queues in a figure with a row per queue: those that request the most."""


class ForecastPage:
    """The parts of a forecast's page, given the filters in its address: resource, window, lists."""

    def __init__(self, forecast: Forecast, params: QueryDict, typed: QueryDict | None = None) -> None:
        self.forecast = forecast
        self.params = params
        self.typed = typed

    @cached_property
    def record(self) -> Record:
        """The record of the forecast."""
        return record_of(self.forecast)

    @cached_property
    def verdict(self) -> Verdict:
        """The verdict on the forecast."""
        return verdict_of(self.forecast)

    @cached_property
    def prices(self) -> Prices | None:
        """The prices of the workspace's nodes; None without prices."""
        return prices_of(self.forecast.workspace)

    @cached_property
    def changes(self) -> list[Timed]:
        """The timed changes in order of time."""
        if not (changes := self.forecast.options["changes"]):
            return []
        return timed_changes(self.forecast.input.document(), changes, self.record.begin, self.record.end)[0]

    @property
    def timeline(self) -> Timeline | None:
        """The timed changes on an axis; None without any."""
        return timeline(self.changes, self.record.end) if self.changes else None

    @cached_property
    def costs(self) -> Costs | None:
        """The costs of the forecast; None without prices."""
        return None if self.prices is None else costs(self.record, self.prices)

    @cached_property
    def charges(self) -> Listing:
        """The costs of the queues: the largest charge first, and what no queue is charged."""
        assert self.costs is not None, "the page shows charges if there are prices"
        rows = sorted(self.costs.queues, key=lambda row: (-row.charged, row.queue))
        return Listing(rows, name="costs", params=self.params)

    @cached_property
    def pools(self) -> list[str]:
        """The pools of its nodes."""
        return sorted(pool.name for pool in self.record.pools)

    @cached_property
    def priced_resources(self) -> list[str]:
        """The resources that can have a price."""
        return [name for name in resource_order(self.record.resources()) if name != "pods"]

    @cached_property
    def prices_form(self) -> PricesForm:
        """The form of prices, with the entered or stored values."""
        kept = self.prices or Prices()
        return PricesForm(self.pools, self.priced_resources, kept, data=self.typed, auto_id="price-%s")

    @cached_property
    def backtests(self) -> list[Backtest]:
        """The backtests of its cluster's forecasts, its own first."""
        found = backtests_beside(self.forecast)
        return sorted(found, key=lambda one: one.forecast_id != self.forecast.pk)

    @cached_property
    def later_snapshots(self) -> list[Snapshot]:
        """The snapshots that it can be compared with."""
        return list(later_snapshots(self.forecast))

    @cached_property
    def resources(self) -> list[str]:
        """The resources to choose from."""
        used = [name for name in self.record.resources() if any(self.record.allocated(name).values)]
        return resource_order(used or self.record.resources()) or ["cpu"]

    @cached_property
    def resource(self) -> str:
        """The selected resource: the requested one, otherwise the most used one."""
        wanted = self.params.get("resource", "")
        if wanted in self.resources:
            return wanted
        main = [name for name in self.resources if name not in ("pods", "memory")] or self.resources
        used = utilisations(self.record)
        return max(main, key=lambda name: used.get(name, 0.0))

    @property
    def unit(self) -> str:
        """The unit of the selected resource."""
        return charts.unit_of([curve for curve in self.curves if curve.figure != "waiting"], self.resource)

    @property
    def series_query(self) -> str:
        """The query string for the figures over time as a table in the API."""
        begin, end = self.window
        return urlencode({"resource": self.resource, "begin": begin, "end": end})

    @property
    def is_zoomed(self) -> bool:
        """Whether the address has a window."""
        return "begin" in self.params

    @cached_property
    def window(self) -> tuple[float, float]:
        """The simulated seconds that are shown."""
        whole = (0.0, self.record.end)
        try:
            begin = float(self.params.get("begin", whole[0]))
            end = float(self.params.get("end", whole[1]))
        except ValueError:
            return whole
        return window_of(self.record, begin, end) or whole

    @cached_property
    def evictions(self) -> list[EvictionRow]:
        """Every eviction."""
        return eviction_rows(self.record)

    @cached_property
    def queues(self) -> list[str]:
        """The queues in the figures, those that request most of the resource."""
        leaves = self.record.leaves
        wanted = {
            queue: self.record.steps(queue, "request", self.resource).integral(0.0, self.record.end)
            for queue in leaves
        }
        most = sorted(leaves, key=lambda queue: (-wanted[queue], queue))[:MOST_QUEUES]
        return sorted(queue for queue in most if wanted[queue]) or sorted(most)

    @cached_property
    def numbers(self) -> dict[str, int]:
        """The numbers of the queues in the figures, which decide their colours: the largest ones first."""
        had = {
            queue: self.record.steps(queue, "allocated", self.resource).integral(0.0, self.record.end)
            for queue in self.queues
        }
        largest = sorted(self.queues, key=lambda queue: (-had[queue], queue))
        return {queue: number for number, queue in enumerate(dict.fromkeys([*largest, *self.longest_waits]))}

    @property
    def hidden(self) -> int:
        """The number of queues that are not in the figures."""
        return len(self.record.leaves) - len(self.queues)

    @cached_property
    def curves(self) -> list[Curve]:
        """Deserved, allocated and request of the queues in the window."""
        return curves(self.record, self.resource, *self.window, self.queues)

    @property
    def over_time(self) -> dict[str, Any]:
        """The figures over time, by their place on the page."""
        begin, end = self.window
        shown = charts.window(begin, end)
        of_resource = {
            name: part_curve(self.record, name, begin, end) for name in self.resources if name != "pods"
        }
        fragmented = {
            name: curve
            for name in of_resource
            for curve in room_curves(self.record, name, begin, end)
            if curve.figure == "fragmented_part"
        }
        figures = {
            "queues": charts.queues_figure(self.curves, self.resource, shown),
            "stacked": charts.stacked_figure(
                stack_curves(self.record, self.resource, begin, end, self.queues),
                use_curves(self.record, self.resource, begin, end)[1],
                self.resource,
                shown,
                self.numbers,
                self.hidden,
            ),
            "waiting": charts.waiting_figure(
                waiting_curves(self.record, begin, end, self.queues), shown, self.numbers
            ),
            "use": charts.use_figure(of_resource, shown),
            "fragmentation": charts.fragmentation_figure(fragmented, shown),
            "evictions": charts.evictions_figure(self.evictions, begin, end),
            "gantt": job_charts.gantt_figure(self.record, begin, end, self.queues),
        }
        lines = charts.lines_at([change.at for change in self.changes if begin <= change.at <= end])
        for figure in figures.values():
            figure["layout"]["shapes"] = lines
        return figures

    @property
    def figures(self) -> dict[str, Any]:
        """All figures of the page."""
        return {
            **self.over_time,
            "waits": wait_charts.waits_figure(self.longest_waits, self.numbers),
            "cdf": wait_charts.cdf_figure(self.longest_waits, self.numbers),
        }

    @cached_property
    def waits(self) -> Listing:
        """The waits of the queues: missed targets first, then the longest waits."""
        rows = sorted(
            self.verdict.queues,
            key=lambda row: (row.target_status != "missed", -(row.wait_p95 or 0.0), -row.jobs, row.queue),
        )
        return Listing(rows, name="queues", params=self.params)

    @cached_property
    def causes(self) -> Listing:
        """The causes of waits: the queues whose jobs waited longest in total first."""
        rows = sorted(self.verdict.causes, key=lambda row: (-row.waited, row.queue))
        return Listing(rows, name="causes", params=self.params)

    @cached_property
    def service(self) -> Listing:
        """The service of the queues: the longest starvation first, then the largest slowdown."""
        rows = sorted(
            self.verdict.service,
            key=lambda row: (-row.starved_seconds, -(row.slowdown_p95 or 0.0), row.queue),
        )
        return Listing(rows, name="service", params=self.params)

    @cached_property
    def longest_waits(self) -> dict[str, Floats]:
        """The waits of started jobs, of the queues with the longest ones."""
        found = started_waits(self.record)
        longest = sorted(found, key=lambda queue: (-np.quantile(found[queue], 0.95), queue))[:MOST_QUEUES]
        return {queue: found[queue] for queue in sorted(longest)}

    @cached_property
    def findings(self) -> tuple[list[Finding], Listing]:
        """The findings of the verdict: the first few of each kind, and a page of the others."""
        findings = self.verdict.findings
        later = beyond_first(finding.kind for finding in findings)
        folded = set(later)
        first = [finding for number, finding in enumerate(findings) if number not in folded]
        others = [findings[number] for number in later]
        return first, Listing(others, name="findings", params=self.params)

    @property
    def can_be_searched(self) -> bool:
        """Whether an experiment can search for settings that remove the harm of the verdict."""
        return bool(goals_of(self.verdict.findings, 0)) and self.forecast.trace_id is not None

    @cached_property
    def flows(self) -> Listing:
        """The evictions between queues: those with the most first."""
        rows = sorted(self.verdict.evictions, key=lambda row: (-row.evictions, row.queue, row.for_queue))
        return Listing(rows, name="flows", params=self.params)

    @cached_property
    def longest(self) -> Listing:
        """The jobs: those that never started, then by longest wait, then those running from the start."""
        return Listing(JobsInOrder(self.record), name="jobs", params=self.params)
