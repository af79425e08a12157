"""Client calls about workload traces and forecasts."""

import gzip
from collections.abc import Mapping
from typing import Any

from queuecast.backend import Json, Progress
from queuecast.connection import Connection, is_id
from queuecast.problems import Refused

_PLAIN_BYTES = 1_000_000
"""A larger trace is sent compressed; servers take 50 MB of text."""
_GZIP = b"\x1f\x8b"


class Forecasting(Connection):
    """Calls about workload traces, wait targets and forecasts.

    A trace is named by its id or its name. A forecast is named by its id, or by the name of its scenario,
    which means the scenario's newest one.
    """

    def traces(self) -> list[Json]:
        """Return the workload traces, newest first."""
        return list(self.server.rows("traces/"))

    def trace_upload(self, file: tuple[str, bytes], *, name: str, format_name: str = "") -> Json:
        """Store a trace, whose file has a name and a content, plain or gzip; return it."""
        fields = {"name": name, **({"format": format_name} if format_name else {})}
        sent = file[0], _small(file[1])
        return dict(self.server.upload("traces/", fields, [sent], field="file").json)

    def trace_preview(self, trace: str) -> Json:
        """Return the arrivals of a trace."""
        return dict(self.server.get(f"traces/{self._id('traces', trace)}/preview/"))

    def trace_delete(self, trace: str) -> None:
        """Delete a trace; its forecasts remain."""
        self.server.call("DELETE", f"traces/{self._id('traces', trace)}/")

    def targets(self, scenario: str) -> dict[str, float]:
        """Return the wait targets of a scenario: seconds by queue."""
        return dict(self.server.get(f"{self._scenario(scenario)}targets/")["targets"])

    def targets_change(self, scenario: str, targets: Mapping[str, float | None]) -> dict[str, float]:
        """Set the wait targets of some queues, None removes one; return those of all queues."""
        body = {"targets": dict(targets)}
        return dict(self.server.call("PATCH", f"{self._scenario(scenario)}targets/", body).json["targets"])

    def forecast_start(self, scenario: str, *, trace: str, **options: Any) -> Json:
        """Queue a forecast of a scenario under a trace; options as docs/forecasts.md has them."""
        body = {"trace": self._id("traces", trace), **options}
        return dict(self.server.call("POST", f"{self._scenario(scenario)}forecasts/", body).json)

    def forecast_wait(
        self, forecast: str, progress: Progress | None = None, *, seconds: float | None = None
    ) -> Json:
        """Return a forecast once it has finished, or as it is after some seconds."""
        return self._followed(self._forecast(forecast), progress, seconds)

    def forecasts(self, scenario: str = "") -> list[Json]:
        """Return the forecasts, newest first, of all scenarios or of one."""
        return list(self.server.rows(f"{self._scenario(scenario)}forecasts/" if scenario else "forecasts/"))

    def forecast_cancel(self, forecast: str) -> Json:
        """Cancel a queued forecast at once, signal a running one to stop; return it."""
        return dict(self.server.call("POST", f"{self._forecast(forecast)}cancel/").json)

    def forecast_verdict(self, forecast: str) -> Json:
        """Return the findings, waits by queue, evictions between queues, and usage of the nodes."""
        return dict(self.server.get(f"{self._forecast(forecast)}verdict/"))

    def forecast_jobs(self, forecast: str, **filters: Any) -> list[Json]:
        """Return the life of each job; filters are `queue`, `job` and `ordering`."""
        return list(self.server.rows(f"{self._forecast(forecast)}jobs/", **filters))

    def forecast_evictions(self, forecast: str, **filters: Any) -> list[Json]:
        """Return each eviction; filters are `queue`, `begin` and `end`."""
        return list(self.server.rows(f"{self._forecast(forecast)}evictions/", **filters))

    def forecast_series(self, forecast: str, **params: Any) -> Json:
        """Return queues over time, selected by `resource`, `queue`, `begin` and `end`."""
        return dict(self.server.get(f"{self._forecast(forecast)}series/", **params))

    def forecast_compare(self, before: str, after: str, prices: Mapping[str, Any] | None = None) -> Json:
        """Return which jobs wait longer and shorter in the second forecast.

        Costs are by these prices, otherwise by those of the workspace.
        """
        path, second = f"{self._forecast(before)}comparison/", self._known_id(after)
        if prices is None:
            return dict(self.server.get(path, **{"with": second}))
        return dict(self.server.call("POST", path, {"with": second, "prices": dict(prices)}).json)

    def forecast_cost(self, forecast: str, prices: Mapping[str, Any] | None = None) -> Json:
        """Return the cost of each queue by these prices, otherwise by those of the workspace."""
        path = f"{self._forecast(forecast)}cost/"
        if prices is None:
            return dict(self.server.get(path))
        return dict(self.server.call("POST", path, dict(prices)).json)

    def forecast_moment(self, forecast: str, at: float, name: str = "") -> Json:
        """Create a scenario of the cluster at a simulated second; return it."""
        body = {"at": at, "name": name}
        return dict(self.server.call("POST", f"{self._forecast(forecast)}moment/", body).json)

    def _forecast(self, name: str) -> str:
        return f"forecasts/{self._known_id(name)}/"

    def _known_id(self, name: str) -> str:
        """Return the id of a forecast, or that of the newest one of a scenario of this name."""
        if is_id(name):
            return name
        found = self.server.get(f"{self._scenario(name)}forecasts/", page_size=1)["results"]
        if not found:
            fix = f"queuecast forecast {name} --trace TRACE"
            raise Refused(f"Scenario {name!r} has no forecast yet: {fix}.", code="not_found")
        return str(found[0]["id"])


def _small(content: bytes) -> bytes:
    """Return the content of a trace as it is sent."""
    if len(content) <= _PLAIN_BYTES or content.startswith(_GZIP):
        return content
    return gzip.compress(content, mtime=0)
