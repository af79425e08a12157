"""Which kinds of change are decided for a job that waits on 1,000 full nodes, and after how many seconds?

``python -m benchmarks.bench_reach`` asks for the smallest change of each kind that places the first job that
waits, once within the limit of the workbench and once without any. Seconds of the processor.
"""

from __future__ import annotations

import math
import sys
from collections import Counter
from time import process_time
from typing import Any

from benchmarks.generator import CONF, CORES, SHAPES, Size, cluster
from planning.reach.questions import Question
from planning.reach.search import Reached, reached
from scheduler_core import Options, simulate_document

LIMIT = 1.8
LIGHT, HEAVY = "enqueue, allocate, backfill", CONF["actions"]
CASES = ((8, 2, 30, LIGHT), (40, 3, 100, LIGHT), (40, 3, 500, HEAVY))
"""Queues, levels, jobs that wait, actions."""
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


def question(document: Document) -> Question:
    """Return that all pods of the first job that waits are placed."""
    [cycle] = simulate_document(document, Options(explain=False, reasons=False))["cycles"]
    waits = (job for job in cycle["podgroups"] if any(task["status"] == "Pending" for task in job["tasks"]))
    job = next(waits)
    return Question("placed", float(len(job["tasks"])), job=job["name"])


def timed(document: Document, asked: Question, limit: float) -> tuple[Reached, float]:
    """Return an answer, and the seconds that it took."""
    began = process_time()
    answer = reached(document, asked, is_late=lambda: process_time() - began > limit)
    return answer, process_time() - began


def main() -> int:
    """Print a row for each cluster; returns 1 where a kind is undecided within the limit."""
    print(f"| queues, levels, waiting jobs, actions | kinds decided in {LIMIT} s | points | all, s |")
    print("|---|---:|---:|---:|")
    undecided = 0
    for queues, levels, pending, actions in CASES:
        size = Size(nodes=1_000, pods=5_000, queues=queues, levels=levels, pending=pending)
        document = full(size, actions)
        asked = question(document)
        answer, _ = timed(document, asked, LIMIT)
        whole, seconds = timed(document, asked, math.inf)
        decided = sum(found.status != "undecided" for found in answer.found)
        undecided += len(answer.found) - decided
        tried = sum(found.tried for found in whole.found)
        named = f"{queues}, {levels}, {pending}, {actions}"
        print(f"| {named} | {decided} of {len(answer.found)} | {tried} | {seconds:.1f} |", flush=True)
    return int(undecided > 0)


if __name__ == "__main__":
    sys.exit(main())
