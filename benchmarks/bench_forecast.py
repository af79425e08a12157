"""Measures the time from the request of a forecast to its verdict, and the page of a large forecast.

``python -m benchmarks.bench_forecast`` forecasts a day of the Philly trace on 64 nodes, one session per
second: it submits the form, the code of a worker replays in a child process, and the page is requested until
it shows the verdict. ``--long`` forecasts 109 days with 82,000 jobs on 352 nodes, which takes minutes, and
measures its page. Prints a table; with ``--strict`` it returns 1 when a limit is missed. The forecast is
measured in wall-clock seconds, with the processor seconds of the child; pages in processor seconds, the
median of several tries.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from functools import partial
from typing import Any

from benchmarks.bench_replay import DAY, TOOL
from benchmarks.planner import browser_of, installed, middle, scenario_of

DAYS_109 = ("--nodes", "352")
ROW = "name,queue,submit_seconds,run_seconds,pods,min_member,cpu,memory,gpu"
GPU = "nvidia.com/gpu"

LONGEST = 109 * 86_400.0
VERDICT_SECONDS = 5.0
VIEW_SECONDS = 1.0
ZOOM_SECONDS = 0.3
STORED_MB = 50.0


def main() -> int:
    """Print the table; returns 1 when a limit is missed and ``--strict`` is given."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.bench_forecast", description=__doc__)
    parser.add_argument("--long", action="store_true", help="109 days with 82,000 jobs instead of a day")
    parser.add_argument("--conf", default="capacity-plain", help="the tool's configuration (%(default)s)")
    parser.add_argument("--strict", action="store_true", help="return 1 when a limit is missed")
    asked = parser.parse_args()
    with installed():
        kept = measured((*(DAYS_109 if asked.long else DAY), "--conf", asked.conf), is_long=asked.long)
    return int(asked.strict and not kept)


def measured(arguments: tuple[str, ...], *, is_long: bool) -> bool:
    """Forecast the tool's document, print the times of the forecast and its page, and check the limits."""
    made = subprocess.run([sys.executable, str(TOOL), *arguments], check=True, capture_output=True).stdout
    document = json.loads(made)
    replay = document.pop("replay")
    scenario = scenario_of(document)
    browser = browser_of(scenario.owner)
    used = processor()
    forecast, to_verdict = forecast_by_form(browser, scenario, replay)
    used = processor() - used
    stored = sum(len(part.packed) for part in forecast.parts.all()) / 1e6
    summary, page = forecast.summary, f"/forecasts/{forecast.pk}/"
    print(
        f"{summary['jobs']:,} jobs over {forecast.horizon_seconds / 86400:,.0f} days,"
        f" {len(document['nodes'])} nodes, {summary['sessions']:,} sessions,"
        f" {summary['evictions']:,} evictions; the child took {forecast.timings} ms;"
        f" {used:.2f} processor seconds from the button to the verdict\n"
    )
    end = forecast.horizon_seconds
    zoomed = f"begin={end * 0.4:.0f}&end={end * 0.42:.0f}"
    rows: dict[str, tuple[float, float | None, str]] = {
        "from the button to the verdict": (to_verdict, None if is_long else VERDICT_SECONDS, "s"),
        "stored": (stored, STORED_MB, "MB"),
        "page, first view in a process": (first_view(browser, page), VIEW_SECONDS, "s"),
        "page, again": (middle(partial(browser.get, page)), VIEW_SECONDS, "s"),
        "zoom to 2 %": (middle(partial(browser.get, f"{page}figures/?{zoomed}")), ZOOM_SECONDS, "s"),
        "zoom out": (middle(partial(browser.get, f"{page}figures/")), ZOOM_SECONDS, "s"),
        "a moment": (middle(partial(browser.get, f"{page}moment/?at={end * 0.4:.0f}")), VIEW_SECONDS, "s"),
        "API: verdict": (middle(partial(browser.get, f"/api/v1{page}verdict/")), VIEW_SECONDS, "s"),
    }
    print("| what | measured | limit |\n|---|---:|---:|")
    for what, (took, most, unit) in rows.items():
        print(f"| {what} | {took:,.2f} {unit} | {'' if most is None else f'{most:g} {unit}'} |", flush=True)
    print(f"\nThe page is {len(browser.get(page).getvalue()) / 1e3:,.0f} kB.")
    return all(most is None or took <= most for took, most, _ in rows.values())


def processor() -> float:
    """Return the processor seconds of this process and of its children that have ended."""
    own, children = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


def first_view(browser: Any, page: str) -> float:
    """Return the processor seconds of the page in a process that has not read this forecast before."""
    from benchmarks.planner import seconds
    from planner.forecasts.selectors import forecasts
    from planning.memory_cache import MemoryCache

    forecasts._cache = MemoryCache(forecasts.KEPT_BYTES, lambda record: 1)  # nothing is unpacked yet
    return seconds(lambda: browser.get(page))


def forecast_by_form(browser: Any, scenario: Any, replay: Mapping[str, Any]) -> tuple[Any, float]:
    """Submit the form of a forecast; return the forecast and the seconds until its verdict."""
    from planner.forecasts.models import Forecast
    from planner.forecasts.services.traces import trace_create, trace_of_text

    text = "\n".join([ROW, *map(line_of, replay["events"])])
    read = trace_of_text(text=text)
    trace = trace_create(workspace=scenario.workspace, name="Philly", read=read, user=scenario.owner)
    over = threading.Event()
    worker = threading.Thread(target=work, args=(over,))
    worker.start()
    typed = {
        "trace": str(trace.pk),
        "horizon_seconds": f"{min(replay['horizon_seconds'], LONGEST):.0f}",
        "period_seconds": f"{replay['period_seconds']:g}",
    }
    begun = time.perf_counter()
    answer = browser.post(f"/scenarios/{scenario.pk}/forecasts/", typed)
    assert answer.status_code == 302, answer.content.decode()[:2000]
    while b">Verdict</h2>" not in browser.get(answer.url).content:
        assert Forecast.objects.get().state not in ("failed", "cancelled"), Forecast.objects.get().error
        time.sleep(0.2)
    took = time.perf_counter() - begun
    over.set()
    worker.join()
    return Forecast.objects.get(), took


def work(over: threading.Event) -> None:
    """Work as a worker does, until the event is set."""
    from django.db import connection

    from planner.work.execution import work_execute_next

    while not over.is_set():
        if not work_execute_next(worker="bench", stopping=over):
            time.sleep(0.05)
    connection.close()


def line_of(event: Mapping[str, Any]) -> str:
    """Return an arrival as a line of a trace."""
    [group], pods = event["create"]["podgroups"], event["create"]["pods"]
    requests = pods[0]["spec"]["containers"][0]["resources"]["requests"]
    runs = group["metadata"]["annotations"]["queuecast/run-seconds"]
    sizes = (
        len(pods),
        group["spec"]["minMember"],
        *(requests.get(name, "") for name in ("cpu", "memory", GPU)),
    )
    return ",".join(map(str, (group["metadata"]["name"], group["spec"]["queue"], event["at"], runs, *sizes)))


if __name__ == "__main__":
    sys.exit(main())
