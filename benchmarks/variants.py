"""Measures many variants of one cluster that is read once.

``python -m benchmarks.variants COUNT`` simulates COUNT variants, and prints their seconds and those of a run
from scratch.
"""

from __future__ import annotations

import gc
import json
import sys
from collections.abc import Iterator
from dataclasses import replace
from time import process_time
from typing import Any

from benchmarks.generator import CONF, Size, cluster
from scheduler_core import Options, Reuse, encode, prepare, simulate_document

SIZE = Size(nodes=100, pods=500, queues=16, levels=2, pending=50)
FROM_SCRATCH = 20


def changes_of(document: dict[str, Any], count: int) -> Iterator[dict[str, Any]]:
    """Yield the changes of each variant: a weight, an amount, the order of actions, a job's queue."""
    for number in range(count):
        kind = number % 4
        if kind == 0:
            yield {"queues": changed(document["queues"], number, weight=2 + number % 7)}
        elif kind == 1:
            amounts = {"cpu": str(1 + number % 50), "memory": f"{1 + number % 90}Gi"}
            field = ("deserved", "capability")[number // 4 % 2]
            yield {"queues": changed(document["queues"], number, **{field: amounts})}
        elif kind == 2:
            actions = ("enqueue, allocate, backfill", "enqueue, allocate, reclaim, preempt")[number // 4 % 2]
            yield {"scheduler_conf": {**CONF, "actions": actions}}
        else:
            yield {"podgroups": changed(document["podgroups"], number, queue=f"queue-{number % 16:05d}")}


def changed(things: list[dict[str, Any]], number: int, **fields: Any) -> list[dict[str, Any]]:
    """Return a copy of a list in which one object has other fields in its specification."""
    position = number % len(things)
    thing = things[position]
    return [
        *things[:position],
        {**thing, "spec": {**thing["spec"], **fields}},
        *things[position + 1 :],
    ]


def main() -> None:
    """Print one line of JSON."""
    gc.disable()
    document, count = cluster(SIZE), int(sys.argv[1])
    options = Options(explain=False)
    over_one_state = replace(options, reuse=Reuse())
    started = process_time()
    prepared = prepare(document)
    for changes in changes_of(document, count):
        encode(prepared.simulate(changes, over_one_state))
        gc.collect(1)
    seconds = process_time() - started
    started = process_time()
    for changes in changes_of(document, FROM_SCRATCH):
        encode(simulate_document({**document, **changes}, options))
        gc.collect(1)
    print(json.dumps({"seconds": seconds, "from_scratch": (process_time() - started) / FROM_SCRATCH}))


if __name__ == "__main__":
    main()
