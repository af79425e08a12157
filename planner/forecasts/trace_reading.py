"""The child process that reads or generates a trace: writes its text and tells its facts, or its problems.

`planner.forecasts.services.trace_process` starts it.
"""

import json
from dataclasses import asdict

from planner.work.subprocess_worker import report_progress, run_work, send
from planning.forecasts.trace_sources import NoTrace, trace_from


def main(source: int, result: int, kind: str, options: str) -> int:
    """Read a trace; return the exit status.

    Parameters
    ----------
    source, result : int
        Descriptors of open files: what the trace is made of, and its text. If there is an error, nothing is
        written.
    kind, options : str
        As for `planning.forecasts.trace_sources.trace_from`, the options as JSON.

    """
    return run_work(lambda: _read(source, result, kind, options))


def _read(source: int, result: int, kind: str, options: str) -> None:
    report_progress(0.0, "reading the trace")
    with open(source, "rb") as sent:
        content = sent.read()
    try:
        text, facts = trace_from(kind, content, json.loads(options))
    except NoTrace as error:
        send(problems=[asdict(problem) for problem in error.problems], facts=None)
        return
    with open(result, "wb") as target:
        target.write(text)
    send(problems=[], facts=asdict(facts))
