"""Explanations of waiting jobs are true: recorded scenarios are edited and simulated again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import islice
from pathlib import Path

import pytest

from tests.fidelity.recorded import picked
from tests.scheduler_core.recheck import all_checks, case_of, recheck_checklists
from tests.shared import ROOT, SHARED

OWN = ROOT / "tests" / "fidelity" / "cases"
FEW = {
    "worked": (),
    "overcommit": ("enqueue",),
    "predicates": ("closest: depends on other pods",),
    "nodegroup": ("closest",),
    "gated": ("scheduling gate",),
    "gang": ("gang",),
    "proportion": ("rounds",),
    "capacity_hierarchy": ("enqueue",),
}


def files() -> list[object]:
    """Return every second scenario of a few recorded files, and with the marker long all of all files."""
    shared = sorted(SHARED.glob("golden/*.jsonl.gz")) if SHARED.is_dir() else []
    return [
        *(pytest.param(OWN / f"{name}.jsonl.gz", FEW[name], 2, id=name) for name in FEW),
        *(
            pytest.param(path, (), 1, id=f"all-{path.name.partition('.')[0]}", marks=pytest.mark.long)
            for path in shared
        ),
    ]


@pytest.mark.parametrize(("path", "at_least", "step"), files())
def test_explained_numbers_are_confirmed_by_editing_the_scenario(
    path: Path, at_least: tuple[str, ...], step: int, record_property: Callable[[str, object], None]
) -> None:
    counts: Counter[str] = Counter()
    for entry in picked(path, lambda lines: islice(lines, 0, None, step), with_recorded=False):
        case = case_of(entry.scenario)
        if case is not None:
            counts += all_checks(case)
    record_property("checked", dict(sorted(counts.items())))
    assert set(at_least) <= set(counts), counts


LISTED = ("worked", "preempt", "protect")


@pytest.mark.parametrize(
    ("path", "step"),
    [
        *(pytest.param(OWN / f"{name}.jsonl.gz", 2, id=name) for name in LISTED),
        *(
            pytest.param(path, 1, id=f"all-{path.name.partition('.')[0]}", marks=pytest.mark.long)
            for path in (sorted(SHARED.glob("golden/*.jsonl.gz")) if SHARED.is_dir() else [])
        ),
    ],
)
def test_every_checklist_ends_with_its_cause(
    path: Path, step: int, record_property: Callable[[str, object], None]
) -> None:
    counts: Counter[str] = Counter()
    for entry in picked(path, lambda lines: islice(lines, 0, None, step), with_recorded=False):
        case = case_of(entry.scenario)
        if case is not None:
            counts.update(recheck_checklists(case))
    record_property("checked", counts["checklist"])
