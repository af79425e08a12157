"""Metrics for Prometheus, all read from the database, so that any web process can be scraped."""

import secrets
from collections.abc import Iterator, Mapping

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.http import require_GET
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from planner.web.selectors.status import Status, status
from planning.version import ENGINE_VERSION


@login_not_required
@require_GET
def metrics(request: HttpRequest) -> HttpResponse:
    """Answer in Prometheus' text format; scrapes may require a bearer token."""
    if not _may_ask(request):
        raise Http404
    registry = CollectorRegistry()
    registry.register(_Collector(status()))
    return HttpResponse(generate_latest(registry), content_type=CONTENT_TYPE_LATEST)


def _may_ask(request: HttpRequest) -> bool:
    expected = settings.METRICS_TOKEN
    if not expected:
        return not settings.PRODUCTION
    given = request.headers.get("Authorization", "").removeprefix("Bearer ")
    return secrets.compare_digest(given.encode(), expected.encode())


def _by_state(name: str, what: str, counts: Mapping[str, int]) -> Metric:
    family = GaugeMetricFamily(name, what, labels=["state"])
    for state, count in counts.items():
        family.add_metric([state], count)
    return family


class _Collector(Collector):
    """The current figures."""

    def __init__(self, now: Status) -> None:
        self._now = now

    def collect(self) -> Iterator[Metric]:
        now = self._now
        yield _by_state("queuecast_runs", "Stored runs by state.", now.runs)
        yield _by_state("queuecast_imports", "Stored large imports by state.", now.imports)
        yield GaugeMetricFamily(
            "queuecast_oldest_queued_seconds",
            "Time the oldest queued run or import has waited.",
            value=now.oldest_queued_seconds,
        )
        yield GaugeMetricFamily(
            "queuecast_finished_runs_per_minute",
            "Runs finished per minute, over the last five minutes.",
            value=now.finished_per_minute,
        )
        if now.mean_wait_seconds is not None and now.mean_run_seconds is not None:
            yield GaugeMetricFamily(
                "queuecast_mean_wait_seconds",
                "Time from queued to started, for runs that ended in the last five minutes.",
                value=now.mean_wait_seconds,
            )
            yield GaugeMetricFamily(
                "queuecast_mean_run_seconds",
                "Time from started to finished, for runs that ended in the last five minutes.",
                value=now.mean_run_seconds,
            )
        yield CounterMetricFamily(
            "queuecast_lost_leases",
            "Runs and imports reclaimed from a worker that died.",
            value=now.lost_leases,
        )
        yield CounterMetricFamily(
            "queuecast_retries",
            "Runs and imports that were queued again after their worker or child process had died.",
            value=now.retries,
        )
        if now.backup is not None and now.backup.ended is not None:
            yield GaugeMetricFamily(
                "queuecast_last_backup_timestamp_seconds",
                "When the last backup was verified, in Unix time.",
                value=now.backup.ended.timestamp(),
            )
        yield GaugeMetricFamily(
            "queuecast_backup_failed",
            "1 if the last backup failed, else 0.",
            value=int(bool(now.backup_error)),
        )
        yield GaugeMetricFamily("queuecast_workers", "Workers seen recently.", value=len(now.workers))
        yield GaugeMetricFamily(
            "queuecast_worker_places",
            "Runs and imports that all workers can process at once.",
            value=now.places,
        )
        version = GaugeMetricFamily(
            "queuecast_engine_info", "Engine version of the workers.", labels=["version"]
        )
        version.add_metric([ENGINE_VERSION], 1)
        yield version
