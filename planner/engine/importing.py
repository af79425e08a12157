"""Which cluster do these files describe, and what is wrong with it? Nothing is saved here."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import manifests
from planner.engine.queues import row_problems
from planner.rows import Problem
from scheduler_core.lint import REFUSED, review

MAX_TEXT_BYTES = manifests.MAX_TEXT_BYTES
"""How much text, inflated, one import may hold."""


@dataclass(frozen=True)
class Imported:
    """What was read, before anything is saved."""

    document: Mapping[str, Any]
    """The objects as one scenario document, without the configuration."""
    scheduler_conf: str
    """volcano-scheduler.conf as it was written; empty: Volcano's default."""
    counts: Mapping[str, int]
    """Objects by list, the empty lists too."""
    unknown_kinds: Mapping[str, int]
    """Objects left out because the scheduler does not read them, by apiVersion and kind."""
    problems: Sequence[Problem]

    @property
    def has_errors(self) -> bool:
        """Must something be mended before this can be saved?"""
        return any(problem.is_error for problem in self.problems)


def read_cluster(files: Sequence[tuple[str, bytes]], *, now: str) -> Imported:
    """Read the files of one cluster, given as names and bytes.

    `now` (RFC 3339) is the moment of a live export; a scenario has its own clock.
    """
    reading = manifests.read(files)
    document = {key: value for key, value in reading.document.items() if key != "scheduler_conf"}
    if not reading.is_scenario:
        document.setdefault("now", now)
    return Imported(
        document=document,
        scheduler_conf=_conf_text(reading),
        counts=reading.counts,
        unknown_kinds=reading.unknown_kinds,
        problems=[*(Problem(**asdict(found)) for found in reading.problems), *_plan_problems(reading)],
    )


def _plan_problems(reading: manifests.Reading) -> Iterator[Problem]:
    """Yield what the core has to say about the scenario, and what does not fit a row, with lines.

    What Volcano would refuse comes in all the same: it is there, and to be mended.
    """
    refused = set()
    for found in review(reading.document):
        may_come_in = found.path.startswith("scheduler_conf") or found.rule in REFUSED
        if found.severity == "error" and not may_come_in:
            refused.add(found.path)
        severity = "warning" if found.severity == "error" and may_come_in else found.severity
        yield _placed(Problem(**asdict(found) | {"severity": severity}), reading)
    for index, queue in enumerate(reading.document.get("queues", ())):
        for problem in row_problems(queue, f"queues[{index}]"):
            if problem.path not in refused:
                yield _placed(problem, reading)


def _placed(problem: Problem, reading: manifests.Reading) -> Problem:
    label, line = reading.line_of(problem.path or "") or (None, None)
    return replace(problem, document=label, line=line)


def _conf_text(reading: manifests.Reading) -> str:
    if reading.scheduler_conf_text is not None:
        return reading.scheduler_conf_text
    structure = reading.document.get("scheduler_conf")
    return "" if structure is None else manifests.dump(structure)
