"""Compares the waits that follow from assumed run times with those that follow from the real ones.

``python -m benchmarks.bench_run_times`` replays day 47 of the Philly trace up to some hour, made by
``data/tools/philly_replay.py`` in the folder that `QUEUECAST_SHARED` names, and continues from there several
times under the work that really followed: with the real run times of the jobs that are there, and with run
times assumed from the jobs that had ended by then. It prints the waits of the jobs that followed.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import replace
from statistics import fmean
from typing import Any, NamedTuple

from benchmarks.bench_replay import DAY, document_of
from planning.forecasts.run_times import run_times, with_run_times
from scheduler_core.model.run_annotations import RUN_SECONDS
from scheduler_core.replay import Replay, replay_document
from scheduler_core.replay.metrics import quantile
from scheduler_core.validate import Inspection
from traces.kubernetes import key_of

BEGINNINGS = ((12, 6), (21, 3))
"""The hour of the day from which the replay is continued, and for how many hours."""
Document = Mapping[str, Any]
Waits = Mapping[str, list[float]]


class Beginning(NamedTuple):
    """The cluster at some hour, without run times.

    Attributes
    ----------
    cluster : mapping
        As a replay that continues with the work that followed.
    real : mapping
        The real run times of the jobs that are there, in seconds.
    ended : mapping
        The run times of the jobs that had ended, by queue, in seconds.

    """

    cluster: Document
    real: Mapping[str, float]
    ended: Mapping[str, list[float]]


def main() -> int:
    """Print the table."""
    day = document_of((*DAY, "--conf", "capacity-plain"))
    print("| from | run times | mean wait, s | p95, s | error of the queues' p95, mean, s |")
    print("|---|---|---:|---:|---:|")
    for hour, hours in BEGINNINGS:
        beginning = _beginning(day, hour * 3600.0, hours * 3600.0)
        real: Waits | None = None
        for assumed, seconds in _assumed(beginning):
            waits = _waits(beginning, seconds)
            real = real or waits
            every = [wait for of_queue in waits.values() for wait in of_queue]
            error = fmean(abs(_p95(waits[name]) - _p95(real[name])) for name in real)
            print(f"| {hour}:00 | {assumed} | {fmean(every):.0f} | {_p95(every):.0f} | {error:.0f} |")
    return 0


def _beginning(day: Document, begin: float, seconds: float) -> Beginning:
    events = day["replay"]["events"]
    real, queue = {}, {}
    for event in events:
        group, pod = event["create"]["podgroups"][0], event["create"]["pods"][0]
        key = key_of(group)
        queue[key] = group["spec"]["queue"]
        given = {**_annotations(pod), **_annotations(group)}
        real[key] = float(given[RUN_SECONDS])
    replay = Replay(day, Inspection(day))
    for _ in replay.steps():
        if replay.next_time is None or replay.next_time > begin:
            break
    ended: dict[str, list[float]] = defaultdict(list)
    for key, record in replay.records.jobs.items():
        if record.finished is not None:
            ended[queue[key]].append(real.pop(key))
    moment = replay.moment(begin)
    there = {key_of(group) for group in moment["podgroups"]}
    later = [
        {**event, "at": event["at"] - begin} for event in events if begin < event["at"] <= begin + seconds
    ]
    cluster = {
        **moment,
        "podgroups": [_without_run_time(group) for group in moment["podgroups"]],
        "pods": [_without_run_time(pod) for pod in moment["pods"]],
        "replay": {**day["replay"], "horizon_seconds": seconds, "events": later},
    }
    return Beginning(cluster, {key: run for key, run in real.items() if key in there}, ended)


def _assumed(beginning: Beginning) -> Iterator[tuple[str, Mapping[str, float]]]:
    """Yield run times of the jobs that are there, the real ones first, and how they were found."""
    yield "real", beginning.real
    cluster, ended = beginning.cluster, beginning.ended
    yield "1 h", {entry.job: entry.seconds or 0.0 for entry in run_times(cluster, 3600.0)}
    yield "median of ended jobs", _medians(beginning)
    for seed in range(3):
        drawn = run_times(cluster, 3600.0, ended, seed=seed)
        yield f"drawn, seed {seed}", {entry.job: entry.seconds or 0.0 for entry in drawn}


def _medians(beginning: Beginning) -> Mapping[str, float]:
    """Return the median of those ended jobs of the queue that ran longer than the job has."""
    found = run_times(beginning.cluster, 3600.0, beginning.ended)
    medians = {}
    for entry in found:
        ended = sorted(beginning.ended.get(entry.queue, ()))
        medians[entry.job] = (
            quantile(ended[len(ended) - entry.samples :], 0.5) if entry.samples else entry.seconds
        )
    return {key: value or 0.0 for key, value in medians.items()}


def _waits(beginning: Beginning, seconds: Mapping[str, float]) -> Waits:
    """Return the waits of the jobs that followed, by queue, in seconds."""
    known = run_times(beginning.cluster, 3600.0)
    given = [replace(entry, seconds=seconds[entry.job]) for entry in known]
    document = with_run_times(beginning.cluster, given)
    end = document["replay"]["horizon_seconds"]
    waits: dict[str, list[float]] = defaultdict(list)
    for key, record in replay_document(document)["jobs"].items():
        if key not in beginning.real:
            started = end if record["started"] is None else record["started"]
            waits[record["queue"]].append(started - record["submitted"])
    return waits


def _p95(waits: list[float]) -> float:
    return quantile(sorted(waits), 0.95)


def _annotations(thing: Document) -> Mapping[str, str]:
    return thing["metadata"].get("annotations") or {}


def _without_run_time(thing: Document) -> Document:
    others = {name: value for name, value in _annotations(thing).items() if name != RUN_SECONDS}
    return {**thing, "metadata": {**thing["metadata"], "annotations": others}}


if __name__ == "__main__":
    sys.exit(main())
