"""Measures how many kinds of change are decided for a job that waits on 1,000 full nodes, and how soon.

``python -m benchmarks.bench_reach`` searches the smallest change of each kind that places the first waiting
job, in requests with the time limit of the workbench, until every kind is decided. Processor seconds; returns
1 where a kind is undecided after the first request.
"""

from __future__ import annotations

import math
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from time import process_time
from typing import Any

from benchmarks.generator import CONF, CORES, SHAPES, Size, cluster
from planning.reach.questions import Question
from planning.reach.search import Reached, Tried, reached
from scheduler_core import Options, simulate_document

LIMIT = 1.8
LIGHT, HEAVY = "enqueue, allocate, backfill", CONF["actions"]
CASES = ((8, 2, 30, LIGHT), (40, 3, 100, LIGHT), (40, 3, 500, HEAVY), (40, 3, 500, HEAVY, "starving"))
"""Queues, levels, waiting jobs, actions; ``starving`` refers to the function."""
Document = dict[str, Any]


def full(size: Size, actions: str) -> Document:
    """Return a cluster whose nodes have no more cores than the pods on them hold, rounded up."""
    document = cluster(size)
    cores = {cpu: number for (cpu, _), number in zip(SHAPES, CORES, strict=True)}
    used: Counter[str] = Counter()
    for pod in document["pods"]:
        for container in pod["spec"]["containers"]:
            used[pod["spec"].get("nodeName", "")] += cores[container["resources"]["requests"]["cpu"]]
    for node in document["nodes"]:
        amounts = {**node["status"]["allocatable"], "cpu": str(math.ceil(used[node["metadata"]["name"]]))}
        node["status"] = {"allocatable": amounts, "capacity": amounts}
    return {**document, "scheduler_conf": {**CONF, "actions": actions}, "cycles": 1}


def starving(document: Document) -> Document:
    """Return a cluster in which every second queue holds what it deserves, and its enqueued jobs starve.

    No plugin rejects jobs, and the jobs of such a queue have equal priorities.
    """
    conf = document["scheduler_conf"]
    tiers = [
        {"plugins": [plugin for plugin in tier["plugins"] if plugin["name"] != "overcommit"]}
        for tier in conf["tiers"]
    ]
    satisfied = {
        queue["metadata"]["name"]
        for number, queue in enumerate(document["queues"])
        if "deserved" in queue["spec"] and number % 2
    }
    part = {"deserved": {"cpu": "20", "memory": "80Gi"}}
    return {
        **document,
        "scheduler_conf": {**conf, "tiers": tiers},
        "queues": [
            {**queue, "spec": {**queue["spec"], **part}} if queue["metadata"]["name"] in satisfied else queue
            for queue in document["queues"]
        ],
        "podgroups": [
            {**group, "spec": {**group["spec"], "priorityClassName": "mid"}}
            if group["spec"]["queue"] in satisfied
            else group
            for group in document["podgroups"]
        ],
    }


def question(document: Document) -> Question:
    """Return the question with which change all pods of the first waiting job are placed."""
    [cycle] = simulate_document(document, Options(explain=False, reasons=False))["cycles"]
    waits = (job for job in cycle["podgroups"] if any(task["status"] == "Pending" for task in job["tasks"]))
    job = next(waits)
    return Question("placed", float(len(job["tasks"])), job=job["name"])


def requests(document: Document, asked: Question) -> Iterator[tuple[Reached, float]]:
    """Yield the answer of each request until every kind is decided, and the seconds of the request."""
    known: Sequence[Tried] = ()
    while True:
        began = process_time()
        answer = reached(document, asked, is_late=partial(_is_late, began), known=known)
        yield answer, process_time() - began
        if answer.is_complete:
            return
        known = [one.so_far for one in answer.found]


def _is_late(began: float) -> bool:
    return process_time() - began > LIMIT


def main() -> int:
    """Print a row for each cluster; return 1 where a kind is undecided after the first request."""
    print(
        f"| queues, levels, waiting jobs, actions | kinds decided in {LIMIT} s | points | requests | all, s |"
    )
    print("|---|---:|---:|---:|---:|")
    undecided = 0
    for queues, levels, pending, actions, *further in CASES:
        size = Size(nodes=1_000, pods=5_000, queues=queues, levels=levels, pending=pending)
        document = full(size, actions)
        if further:
            document = starving(document)
        answers = list(requests(document, question(document)))
        first, whole = answers[0][0], answers[-1][0]
        decided = sum(found.status != "undecided" for found in first.found)
        undecided += len(first.found) - decided
        tried = sum(found.tried for found in whole.found)
        seconds = sum(seconds for _, seconds in answers)
        named = ", ".join(map(str, (queues, levels, pending, actions, *further)))
        print(
            f"| {named} | {decided} of {len(first.found)} | {tried} | {len(answers)} | {seconds:.1f} |",
            flush=True,
        )
    return int(undecided > 0)


if __name__ == "__main__":
    sys.exit(main())
