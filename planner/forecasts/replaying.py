"""What does a forecast's child process do? Replay, say how far it is, hand over its state now and then.

Started by `planner.forecasts.services.replays` as ``python -m planner.forecasts.replaying SOURCE RESULT
SECONDS MOMENT``: two open files by number, after how many seconds the state is handed over, and the simulated
second of which the cluster is wanted instead of a forecast (empty: none).
"""

import base64
import gc
import json
import sys
import time
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from planner.work.subprocess_worker import Failed, Laps, ended, tell, tell_progress, tell_so_far
from planning.documents import encoded
from planning.forecasts.estimate import estimated
from planning.forecasts.kept import parts_of, summary_of
from planning.forecasts.opening import NoForecast, Opened, cluster_at, opened
from planning.forecasts.record import record_of
from planning.forecasts.seeds import SeedRow, seed_rows
from planning.version import ENGINE_VERSION

Json = Mapping[str, Any]

REPORT_SECONDS = 0.5
"""So often the child says how far it is."""
COST = 20
"""The state is handed over so seldom that it takes at most a twentieth of the time."""


def main(source_file: int, result_file: int, freeze_seconds: float, moment: float | None) -> int:
    """Replay a forecast, or up to one of its moments; return the exit status."""
    return ended(lambda: _work(source_file, result_file, freeze_seconds, moment))


def _work(source_file: int, result_file: int, freeze_seconds: float, moment: float | None) -> None:
    tell_progress(0.0, "reading the input")
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
    # Drawn workloads come first: what is kept of them is small, and the forecast itself is frozen as one.
    first = int(frozen.get("seed", 1)) or seeds + 1
    for seed in range(first, seeds + 1):
        going = _opened(given, frozen if seed == frozen.get("seed") else None, seed)
        watch.expect(going.document)
        result = going.replay.run(watch.of(going.replay, seed, drawn))
        drawn += seed_rows(record_of(going.document, result), seed)
        del going, result
        gc.unfreeze()
        gc.collect()
    laps.lap("seeds_ms")
    going = _opened(given, frozen if frozen.get("seed") == 0 else None, 0)
    watch.expect(going.document)
    laps.lap("load_ms")
    result = going.replay.run(watch.of(going.replay, 0, drawn))
    laps.lap("replay_ms")
    tell_progress(1.0, "summing up")
    gc.disable()
    result["notes"] = [*result["notes"], *going.notes]
    record = record_of(going.document, result)
    listed = []
    with open(result_file, "wb") as target:
        for part in parts_of(result, record, drawn):
            listed.append([part.part, part.key, len(part.packed), part.size])
            target.write(part.packed)
    laps.lap("parts_ms")
    tell(
        parts=listed,
        summary=summary_of(result, record),
        notes=result["notes"],
        timings=laps.milliseconds,
        engine_version=ENGINE_VERSION,
    )


def _opened(given: Json, frozen: Json | None, seed: int) -> Opened:
    gc.disable()
    going = opened(given["scenario"], given["workload"], given["options"], frozen, seed=seed)
    # What was read stays until the end: to look through it for garbage, again and again, is in vain.
    gc.freeze()
    gc.enable()
    return going


def _moment(given: Json, result_file: int, time: float) -> None:
    """Write the cluster as the first session from a time on finds it, as a scenario document."""
    document = cluster_at(given["scenario"], given["workload"], given["options"], time, given["frozen"])
    with open(result_file, "wb") as target:
        target.write(encoded(document))
    tell(engine_version=ENGINE_VERSION)


class _Watch:
    """Says how far replays are that follow each other, and hands over the state of the one that runs."""

    def __init__(self, freeze_seconds: float, seeds: int) -> None:
        self.freeze_seconds = freeze_seconds
        self.seeds = seeds
        self.reported = self.frozen = time.monotonic()
        self.estimate: Json = {}

    def expect(self, document: Json) -> None:
        """Say how long all replays will take, each as long as the first one that is known."""
        if self.estimate:
            return
        one, replays = estimated(document), self.seeds + 1
        self.estimate = {
            "seconds": round(one.seconds * replays, 3),
            "sessions": one.sessions * replays,
            "at_least": one.at_least,
        }
        tell_so_far({"estimate": self.estimate})

    def of(self, replay: Any, seed: int, drawn: Sequence[SeedRow]) -> Callable[[Any], None]:
        """Return what watches a replay: that of a seed, or the forecast itself (0) after all of them."""
        self.seed, self.drawn = seed, drawn
        self.begun, self.computed = time.monotonic(), replay.computed
        return self._watch

    def _watch(self, replay: Any) -> None:
        now = time.monotonic()
        if now - self.reported < REPORT_SECONDS:
            return
        self.reported = now
        horizon = replay.timeline.horizon or 1.0
        before = self.seeds if self.seed == 0 else self.seed - 1
        done = (before + min(replay.end / horizon, 1.0)) / (self.seeds + 1)
        which = f"drawn workload {self.seed} of {self.seeds}, " if self.seed else ""
        tell_progress(done, f"{which}at {replay.end:,.0f} s of {horizon:,.0f} s")
        found: dict[str, Any] = {
            "estimate": self.estimate,
            "simulated_seconds": replay.end,
            "jobs_done": sum(job.finished is not None for job in replay.records.jobs.values()),
            "sessions_per_second": round((replay.computed - self.computed) / max(now - self.begun, 1e-3), 1),
        }
        if now - self.frozen >= self.freeze_seconds:
            state = {**replay.freeze(), "seed": self.seed, "drawn": [asdict(row) for row in self.drawn]}
            content = encoded(state)
            found["frozen"] = base64.b85encode(zlib.compress(content)).decode()
            found["frozen_size"] = len(content)
            self.frozen = time.monotonic()
            self.freeze_seconds = max(self.freeze_seconds, COST * (self.frozen - now))
        tell_so_far(found)


if __name__ == "__main__":
    _, source, result, seconds, moment = sys.argv
    sys.exit(main(int(source), int(result), float(seconds), float(moment) if moment else None))
