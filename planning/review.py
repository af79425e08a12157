"""The problems of a scenario."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

import manifests
from planning.queues import QueueFields, queue_manifest
from planning.rows import ConfFinding, Problem
from scheduler_core.lint import Question, conf_of, questions, remedy, review
from scheduler_core.lint import conf_problems as lint_of
from scheduler_core.release import Release
from scheduler_core.validate import Inspection

CONF_PATH = "scheduler_conf"

__all__ = ["Inspection", "conf_findings", "conf_questions", "conf_structure", "problems_of"]


def problems_of(
    objects: Mapping[str, Any],
    queues: Sequence[QueueFields],
    *,
    conf_text: str,
    release: str,
    inspected: Inspection,
) -> list[Problem]:
    """Return every problem of a scenario, errors first.

    `inspected` holds the findings of its snapshot, so that only the changes of the scenario are checked.
    """
    structure, of_text = conf_structure(conf_text)
    document = {
        **objects,
        "queues": [queue_manifest(row) for row in queues],
        **({"scheduler_conf": structure} if structure is not None else {}),
        **({"release": release} if release else {}),
    }
    found = [Problem(**asdict(problem)) for problem in review(document, inspected)]
    return sorted(
        [*of_text, *_placed_in_conf(found, conf_text)],
        key=lambda problem: ("error", "warning", "remark").index(problem.severity),
    )


def conf_findings(text: str, release: Release) -> list[ConfFinding]:
    """Return all problems of a configuration for a release, with lines; errors first."""
    structure, of_text = conf_structure(text)
    findings = [ConfFinding(**asdict(problem)) for problem in of_text]
    if structure is None and of_text:
        return findings
    conf = None if structure is None else conf_of(structure, release)
    found = lint_of(structure, release)
    placed = _placed_in_conf([Problem(**asdict(problem)) for problem in found], text)
    for problem, one in zip(found, placed, strict=True):
        fixes = () if structure is None else remedy(problem, conf)
        findings.append(ConfFinding(**asdict(one), remedy=fixes))
    return findings


def conf_questions(text: str, release: Release) -> list[Question]:
    """Return which plugins a session calls under a configuration; empty if the release rejects it."""
    structure, of_text = conf_structure(text)
    conf = None if any(problem.is_error for problem in of_text) else conf_of(structure, release)
    return [] if conf is None else questions(conf)


def conf_structure(text: str) -> tuple[Mapping[str, Any] | None, list[Problem]]:
    """Return the parsed configuration, None for Volcano's default, and its formal errors."""
    if not text.strip():
        return None, []
    found = [Problem(**asdict(problem)) for problem in manifests.conf_problems(text)]
    if any(problem.is_error for problem in found):
        return None, found
    return manifests.parse_conf(text), found


def _placed_in_conf(problems: Sequence[Problem], text: str) -> list[Problem]:
    """Return problems, those about the configuration with line numbers."""
    if not text.strip():
        return list(problems)
    of_conf = [place for place, one in enumerate(problems) if (one.path or "").startswith(CONF_PATH)]
    paths = [(problems[place].path or "").removeprefix(CONF_PATH) for place in of_conf]
    lines = dict(zip(of_conf, manifests.conf_lines(text, paths), strict=True))
    return [
        replace(problem, document=manifests.CONF_KEY, line=lines[place]) if place in lines else problem
        for place, problem in enumerate(problems)
    ]
