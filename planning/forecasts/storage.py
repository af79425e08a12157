"""Storage of a record as one compressed archive of columns; equal records give equal bytes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from io import BytesIO
from itertools import pairwise
from typing import Any

import numpy as np

from planning.forecasts.fragmentation import Room
from planning.forecasts.jobs import Jobs
from planning.forecasts.machines import Pool
from planning.forecasts.record import ALWAYS, Evictions, Record
from planning.forecasts.steps import Floats, Steps
from planning.forecasts.unschedulable import Unschedulable

FORMAT = 4
WITH_CAUSES = 4
"""The first format with what the causes of waits need."""
_TIMES = ("submitted", "enqueued", "started", "finished", "ended", "lost")
_COUNTS = ("evictions", "pods")

Key = tuple[str, ...]
"""The name of a function: figure and resource of a queue, what a pool has or offers, what is free."""
DECIDED: Key = ("conf", "decided_by_deserved")
CLOSED = "closed"


def packed(record: Record) -> bytes:
    """Return a record as bytes."""
    functions = list(_functions(record))
    jobs, evictions = record.jobs, record.evictions
    queues = sorted(set(jobs.queues))
    number = {queue: place for place, queue in enumerate(queues)}
    head = {
        "format": FORMAT,
        "begin": record.begin,
        "end": record.end,
        "period": record.period,
        "sessions": record.sessions,
        "leaves": record.leaves,
        "notes": record.notes,
        "queues": queues,
        "rows": sorted(record.queues),
        "pools": [pool.name for pool in record.pools],
        "functions": [key for key, _ in functions],
        "resources": sorted(jobs.sizes),
        "unschedulable": [asdict(one) for one in record.unschedulable],
    }
    arrays: dict[str, Any] = {
        "head": _text([json.dumps(head, ensure_ascii=False)]),
        "job_names": _text(jobs.names),
        "job_minimum": jobs.minimum.astype(np.int32),
        "job_bound": jobs.bound,
        "job_queues": np.array([number[queue] for queue in jobs.queues], dtype=np.int32),
        "eviction_times": evictions.times,
        "eviction_victims": evictions.victims.astype(np.int32),
        "eviction_pods": _text(evictions.pods),
        "eviction_preemptors": evictions.preemptors.astype(np.int32),
        "eviction_ran": evictions.ran,
        "lengths": np.array([len(function.times) for _, function in functions], dtype=np.int64),
        "times": np.concatenate([np.empty(0), *(function.times for _, function in functions)]),
        "values": np.concatenate([np.empty(0), *(function.values for _, function in functions)]),
    }
    arrays |= {f"job_{name}": getattr(jobs, name) for name in _TIMES}
    arrays |= {f"job_{name}": getattr(jobs, name).astype(np.int32) for name in _COUNTS}
    arrays |= {f"size_{place}": jobs.sizes[name] for place, name in enumerate(sorted(jobs.sizes))}
    file = BytesIO()
    np.savez_compressed(file, allow_pickle=False, **arrays)
    return file.getvalue()


def unpacked(content: bytes) -> Record:
    """Return the record from its bytes."""
    with np.load(BytesIO(content), allow_pickle=False) as arrays:
        head = json.loads(_lines(arrays["head"])[0])
        jobs = Jobs(
            names=_lines(arrays["job_names"]),
            queues=tuple(head["queues"][number] for number in arrays["job_queues"].tolist()),
            sizes={name: arrays[f"size_{place}"] for place, name in enumerate(head["resources"])},
            **{name: arrays[f"job_{name}"] for name in _TIMES},
            **{name: arrays[f"job_{name}"].astype(np.int64) for name in _COUNTS},
            minimum=_column(arrays, "minimum", "pods").astype(np.int64),
            bound=_column(arrays, "bound", "started"),
        )
        evictions = Evictions(
            times=arrays["eviction_times"],
            victims=arrays["eviction_victims"].astype(np.int64),
            pods=_lines(arrays["eviction_pods"]),
            preemptors=arrays["eviction_preemptors"].astype(np.int64),
            ran=arrays["eviction_ran"],
        )
        functions = _read_functions(
            [tuple(key) for key in head["functions"]], arrays["lengths"], arrays["times"], arrays["values"]
        )
    return Record(
        begin=head["begin"],
        end=head["end"],
        period=head["period"],
        sessions=head["sessions"],
        jobs=jobs,
        evictions=evictions,
        queues={name: _figures(functions, name) for name in head["rows"]},
        leaves=tuple(head["leaves"]),
        pools=tuple(_pool(functions, name) for name in head["pools"]),
        notes=tuple(head["notes"]),
        rooms={
            key[1]: Room(function, functions["room", key[1], "fragmented"])
            for key, function in functions.items()
            if key[0] == "room" and key[2] == "free"
        },
        has_causes=head["format"] >= WITH_CAUSES,
        unschedulable=tuple(Unschedulable(**one) for one in head.get("unschedulable", ())),
        decided_by_deserved=functions.get(DECIDED, ALWAYS),
        closures={key[1]: function for key, function in functions.items() if key[0] == CLOSED},
    )


def _column(arrays: Any, name: str, before: str) -> Any:
    """Return a column of the jobs, or the one to use for a forecast of an older release without it."""
    return arrays[f"job_{name}" if f"job_{name}" in arrays else f"job_{before}"]


def _functions(record: Record) -> Iterator[tuple[Key, Steps]]:
    for queue, figures in sorted(record.queues.items()):
        for figure, of_figure in sorted(figures.items()):
            for resource, function in sorted(of_figure.items()):
                yield ("queue", queue, figure, resource), function
    for pool in record.pools:
        yield ("pool", pool.name, "nodes"), pool.nodes
        for resource, function in sorted(pool.offers.items()):
            yield ("pool", pool.name, "offers", resource), function
    yield DECIDED, record.decided_by_deserved
    for queue, function in sorted(record.closures.items()):
        yield (CLOSED, queue), function
    for resource, room in sorted(record.rooms.items()):
        yield ("room", resource, "free"), room.free
        yield ("room", resource, "fragmented"), room.fragmented


def _read_functions(keys: list[Key], lengths: Any, times: Floats, values: Floats) -> dict[Key, Steps]:
    edges = np.concatenate(([0], np.cumsum(lengths))).tolist()
    return {
        key: Steps(times[begin:end], values[begin:end])
        for key, (begin, end) in zip(keys, pairwise(edges), strict=True)
    }


def _figures(functions: Mapping[Key, Steps], queue: str) -> dict[str, dict[str, Steps]]:
    found: dict[str, dict[str, Steps]] = {}
    for key, function in functions.items():
        if key[:2] == ("queue", queue):
            found.setdefault(key[2], {})[key[3]] = function
    return found


def _pool(functions: Mapping[Key, Steps], name: str) -> Pool:
    offers = {key[3]: function for key, function in functions.items() if key[:3] == ("pool", name, "offers")}
    return Pool(name, functions["pool", name, "nodes"], offers)


def _text(lines: Any) -> Any:
    return np.frombuffer("\n".join(lines).encode(), dtype=np.uint8)


def _lines(column: Any) -> tuple[str, ...]:
    text = column.tobytes().decode()
    return tuple(text.split("\n")) if text else ()
