"""The child process that computes a function for a request; `planner.work.awaited.computed` starts it."""

import json
from dataclasses import asdict
from importlib import import_module

from planner.work.subprocess_worker import report_progress, run_work, send
from planning.rows.problems import Unusable


def main(source: int, result: int, module: str, function: str, options: str) -> int:
    """Compute a function; return the exit status.

    Parameters
    ----------
    source, result : int
        Descriptors of open files: the content, and the bytes that the function makes of it.
    module, function : str
        Where the function is defined, and its name.
    options : str
        Its options, as JSON.

    """
    return run_work(lambda: _compute(source, result, module, function, options))


def _compute(source: int, result: int, module: str, function: str, options: str) -> None:
    report_progress(0.0, "reading the input")
    with open(source, "rb") as sent:
        content = sent.read()
    try:
        made, answer = getattr(import_module(module), function)(content, json.loads(options))
    except Unusable as error:
        send(problems=[asdict(problem) for problem in error.problems])
        return
    with open(result, "wb") as target:
        target.write(made)
    send(problems=[], answer=answer)
