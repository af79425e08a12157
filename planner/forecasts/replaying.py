"""The child process of a forecast: replays the trace, reports progress, and saves its state at intervals.

`planner.forecasts.services.replays` starts it.
"""

import base64
import gc
import json
import time
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from planner.work.subprocess_worker import Failed, Laps, report_found, report_progress, run_work, send
from planning.documents import encoded
from planning.forecasts.estimate import Pace, estimated
from planning.forecasts.opening import NoForecast, Opened, cluster_at, opened, result_of
from planning.forecasts.parts import parts_of, summary_of
from planning.forecasts.record import record_of
from planning.forecasts.seeds import SeedRow, seed_rows
from planning.version import ENGINE_VERSION

Json = Mapping[str, Any]

REPORT_SECONDS = 0.5
"""The interval of progress reports, in seconds, unless the state is to be saved more often."""
COST = 20
"""Saving the state takes at most a twentieth of the time."""


def main(source_file: int, result_file: int, freeze_seconds: str, moment: str) -> int:
    """Replay a forecast, or up to one of its moments; return the exit status.

    Parameters
    ----------
    source_file, result_file : int
        Descriptors of open files.
    freeze_seconds : str
        The interval at which the state is saved.
    moment : str
        The simulated second at which the cluster is returned instead of a forecast; empty: a forecast.

    """
    time_of_cluster = float(moment) if moment else None
    return run_work(lambda: _work(source_file, result_file, float(freeze_seconds), time_of_cluster))


def _work(source_file: int, result_file: int, freeze_seconds: float, moment: float | None) -> None:
    report_progress(0.0, "reading the input")
    with open(source_file, "rb") as source:
        given = json.load(source)
    try:
        if moment is None:
            _forecast(given, result_file, freeze_seconds)
        else:
            _moment(given, result_file, moment)
    except NoForecast as error:
        raise Failed(str(error)) from None


def _forecast(given: Json, result_file: int, freeze_seconds: float) -> None:
    laps = Laps()
    frozen = given["frozen"] or {}
    seeds = int(given["options"].get("seeds") or 0)
    drawn = [SeedRow(**row) for row in frozen.get("drawn") or ()]
    watch = _Watch(freeze_seconds, seeds)
    # Drawn workloads come first: their results are small, and only the forecast itself saves its state.
    first = int(frozen.get("seed", 1)) or seeds + 1
    for seed in range(first, seeds + 1):
        going = _opened(given, frozen if seed == frozen.get("seed") else None, seed)
        watch.expect(going.document)
        result = result_of(going.replay, watch.of(going.replay, seed, drawn))
        drawn += seed_rows(record_of(going.document, result), seed)
        del going, result
        gc.unfreeze()
        gc.collect()
    laps.lap("seeds_ms")
    going = _opened(given, frozen if frozen.get("seed") == 0 else None, 0)
    watch.expect(going.document)
    laps.lap("load_ms")
    result = result_of(going.replay, watch.of(going.replay, 0, drawn))
    laps.lap("replay_ms")
    report_progress(1.0, "summing up")
    gc.disable()
    result["notes"] = [*result["notes"], *going.notes]
    record = record_of(going.document, result)
    listed = []
    with open(result_file, "wb") as target:
        for part in parts_of(result, record, drawn):
            listed.append([part.part, part.key, len(part.packed), part.size])
            target.write(part.packed)
    laps.lap("parts_ms")
    send(
        parts=listed,
        summary=summary_of(result, record),
        notes=result["notes"],
        timings=laps.milliseconds,
        engine_version=ENGINE_VERSION,
    )


def _opened(given: Json, frozen: Json | None, seed: int) -> Opened:
    gc.disable()
    going = opened(given["scenario"], given["workload"], given["options"], frozen, seed=seed)
    # The input lives until the end; collecting garbage in it again and again is useless.
    gc.freeze()
    gc.enable()
    return going


def _moment(given: Json, result_file: int, time: float) -> None:
    """Write the cluster as the first session at or after a time finds it, as a scenario document."""
    document = cluster_at(given["scenario"], given["workload"], given["options"], time, given["frozen"])
    with open(result_file, "wb") as target:
        target.write(encoded(document))
    send(engine_version=ENGINE_VERSION)


class _Watch:
    """Reports the progress of consecutive replays, and saves the state of the running one."""

    def __init__(self, freeze_seconds: float, seeds: int) -> None:
        self.freeze_seconds = freeze_seconds
        self.report_seconds = min(REPORT_SECONDS, freeze_seconds)
        self.seeds = seeds
        self.reported = self.frozen = time.monotonic()
        self.estimate: Json = {}
        self.pace = Pace()

    def expect(self, document: Json) -> None:
        """Report how long all replays will take, each as long as the first that is known."""
        if self.estimate:
            return
        one, replays = estimated(document), self.seeds + 1
        self.estimate = {
            "seconds": round(one.seconds * replays, 3),
            "sessions": one.sessions * replays,
            "at_least": one.at_least,
        }
        report_found({"estimate": self.estimate})

    def of(self, replay: Any, seed: int, drawn: Sequence[SeedRow]) -> Callable[[Any], None]:
        """Return the observer of a replay: of a seed, or of the forecast itself (0) after all seeds."""
        self.seed, self.drawn = seed, drawn
        self.begun, self.computed = time.monotonic(), replay.computed
        return self._watch

    def _watch(self, replay: Any) -> None:
        now = time.monotonic()
        if now - self.reported < self.report_seconds:
            return
        self.reported = now
        horizon = replay.timeline.horizon or 1.0
        before = self.seeds if self.seed == 0 else self.seed - 1
        done = (before + min(replay.end / horizon, 1.0)) / (self.seeds + 1)
        which = f"drawn workload {self.seed} of {self.seeds}, " if self.seed else ""
        if (left := self.pace.left(now, done)) is not None:
            self.estimate = {**self.estimate, "seconds_left": round(left, 1)}
        report_progress(done, f"{which}at {replay.end:,.0f} s of {horizon:,.0f} s")
        found: dict[str, Any] = {
            "estimate": self.estimate,
            "simulated_seconds": replay.end,
            "jobs_done": sum(job.finished is not None for job in replay.records.jobs.values()),
            "sessions_per_second": round((replay.computed - self.computed) / max(now - self.begun, 1e-3), 3),
        }
        if now - self.frozen >= self.freeze_seconds:
            state = {**replay.freeze(), "seed": self.seed, "drawn": [asdict(row) for row in self.drawn]}
            content = encoded(state)
            found["frozen"] = base64.b85encode(zlib.compress(content)).decode()
            found["frozen_size"] = len(content)
            found["frozen_at"] = [len(self.drawn), replay.end]
            self.frozen = time.monotonic()
            self.freeze_seconds = max(self.freeze_seconds, COST * (self.frozen - now))
        report_found(found)
