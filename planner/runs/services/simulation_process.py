"""What does a simulation give back that runs in a child process?"""

import json
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass

from planner.work.subprocess_runner import (
    Beat,
    Limits,
    OnReport,
    Task,
    child_answer,
    room_on_disk,
    unreported,
)


@dataclass(frozen=True)
class Simulated:
    """What the child gave back; `error` is the sentence of a scenario that cannot be simulated."""

    result: bytes
    engine_version: str
    timings: dict[str, float]
    error: str | None


def simulate(
    document: bytes,
    *,
    explain: bool,
    limits: Limits,
    beat: Beat,
    on_report: OnReport = unreported,
    question: Mapping[str, str] | None = None,
) -> Simulated:
    """Simulate a frozen scenario document in a child process.

    The result is byte for byte what ``python -m scheduler_core simulate`` prints for `document`; with a
    question (`Run.question`) it is the answer to that, and `heard` is called with what is found on the way.

    Raises ChildFailed with the reason, or ChildStopped after `beat` answered False.
    """
    task = Task(
        "The simulation",
        "planner.runs.simulating",
        ["explain" if explain else "decisions", json.dumps(question or {}), *limits.extender_hosts],
    )
    with room_on_disk(), tempfile.TemporaryFile() as source, tempfile.TemporaryFile() as result:
        source.write(document)
        answer = child_answer(task, source, result, limits, beat, on_report)
        return Simulated(result.read(), answer["engine_version"], answer["timings"], answer["error"])
