"""Measures the sessions of a file's scenarios, with explanations off and on.

``python -m benchmarks.explained FILE RUNS`` prints processor seconds, of the fastest of several alternating
runs: those of the sessions, and those of sessions and results together.
"""

from __future__ import annotations

import gc
import json
import sys
from time import process_time
from typing import Any, NamedTuple

from scheduler_core import Options, Prepared, prepare


class Took(NamedTuple):
    """Seconds, the sum over all scenarios."""

    session: float
    answer: float


def simulated(scenarios: list[Prepared], *, explain: bool) -> Took:
    """Return the seconds of one run of all scenarios."""
    session, answer = 0.0, 0.0
    options = Options(explain=explain, timer=lambda: process_time() * 1000)
    for prepared in scenarios:
        gc.collect()
        started = process_time()
        result: dict[str, Any] = prepared.simulate({}, options)
        answer += process_time() - started
        session += sum(cycle["timing"]["session_ms"] for cycle in result["cycles"]) / 1000
    return Took(session, answer)


def main() -> None:
    """Print one line of JSON."""
    with open(sys.argv[1]) as lines:
        scenarios = [prepare(json.loads(line)) for line in lines]
    gc.freeze()
    gc.disable()
    runs = [
        [simulated(scenarios, explain=explain) for explain in (False, True)] for _ in range(int(sys.argv[2]))
    ]
    off, on = zip(*runs, strict=True)
    print(
        json.dumps(
            {
                name: Took(min(run.session for run in took), min(run.answer for run in took))._asdict()
                for name, took in (("off", off), ("on", on))
            }
        )
    )


if __name__ == "__main__":
    main()
