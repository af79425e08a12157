"""The child process of a run: reads the frozen input, simulates it, writes the result and its rows.

`planner.runs.services.simulations` starts it.
"""

import json
import time
from collections.abc import Mapping, Sequence
from typing import Any

import manifests
from extender_client import AllowedHosts, ExtenderClient
from planner.work.subprocess_worker import Failed, Laps, report_found, report_progress, run_work, send
from planning.outcomes import rows_of
from planning.version import ENGINE_VERSION
from scheduler_core import Options, encode, prepare
from scheduler_core.explain import Limits, with_loops

SEARCH_MS = 5000.0
"""The time limit of a search; extended if the cluster is so large that few simulations fit into it."""


Question = Mapping[str, str]


def main(input_file: int, result_file: int, explain: str, question: str, *hosts: str) -> int:
    """Simulate once, or answer a question by many simulations; return the exit status.

    Parameters
    ----------
    input_file, result_file : int
        Descriptors of open files.
    explain : str
        ``explain``, or ``decisions`` for a result without explanations.
    question : str
        As JSON; ``{}``: one simulation; `job`: a search for what would unblock it; `from` and `to`: what
        changes between two releases; `probe`: where a pod fits.
    *hosts : str
        The hosts that plugin extender may call.

    """
    options = _options(explain == "explain", hosts)
    return run_work(lambda: _simulate(input_file, result_file, options, json.loads(question)))


def _simulate(input_file: int, result_file: int, options: Options, question: Question) -> None:
    laps = Laps()
    report_progress(0.0, "reading the input")
    with open(input_file, "rb") as source:
        content = source.read()
    try:
        given = json.loads(content)
        document = manifests.resolve(given)
    except manifests.Unreadable as error:
        raise Failed(f"The scheduler configuration cannot be read: {error}.") from None
    laps.lap("load_ms")
    result = _answer(document, question, options)
    laps.lap("simulate_ms")
    rows = None
    if not question and "error" not in result:
        report_progress(1.0, "summing up")
        rows = rows_of(result, given)
        laps.lap("rows_ms")
    with open(result_file, "wb") as target:
        size = target.write(encode(result))
        if rows is not None:
            rows.write(target)
    laps.lap("encode_ms")
    send(
        size=size,
        has_rows=rows is not None,
        notes=result.get("notes", []),
        timings=laps.milliseconds,
        engine_version=ENGINE_VERSION,
        error=result.get("error"),
    )


def _answer(document: Mapping[str, Any], question: Question, options: Options) -> Mapping[str, Any]:
    """Return the result, or the answer to the question. A plain run imports nothing for questions."""
    if "to" in question:
        from planning.upgrades import upgrade_report

        return upgrade_report(document, question["from"], question["to"], options)
    if "probe" in question:
        from planning.fitting import fitting, probe_of

        return fitting(document, probe_of(json.loads(question["probe"])), options)
    if "job" in question:
        from planning.search import search

        limits = Limits(milliseconds=SEARCH_MS, timer=lambda: time.perf_counter() * 1000)
        return search(document, question["job"], options, limits, report_found)
    prepared = prepare(document)
    return with_loops(prepared, prepared.simulate(options=options), options)


def _options(explain: bool, hosts: Sequence[str]) -> Options:
    return Options(
        explain=explain,
        progress=report_progress,
        extender=ExtenderClient(AllowedHosts(hosts)).post if hosts else None,
    )
