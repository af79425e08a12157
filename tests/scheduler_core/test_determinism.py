"""The result depends only on the objects: same bytes for any hash seed, input order and naming.

Conditions: names are unique within a kind, and at most one priority class is the global default.
"""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler_core import Options, encode, simulate_document
from scheduler_core.reading import entries
from tests.builders import Object
from tests.scheduler_core.clusters import SEARCH, clusters, renamed
from tests.shared import ROOT

CASES = ROOT / "tests" / "fidelity" / "cases"
FAMILIES = ("mixed", "switches", "capacity_hierarchy", "hdrf", "preempt", "cycles", "targeted")
LISTS = ("nodes", "queues", "podgroups", "pods", "priorityclasses")


@pytest.fixture(scope="module")
def some_of_every_family(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a file with the first scenarios of several families."""
    path = tmp_path_factory.mktemp("determinism") / "scenarios.jsonl"
    with path.open("wb") as out:
        for family in FAMILIES:
            with gzip.open(CASES / f"{family}.jsonl.gz", "rb") as lines:
                out.writelines(line for _, line in zip(range(4), lines, strict=False))
    return path


def test_result_does_not_depend_on_the_hash_seed(some_of_every_family: Path) -> None:
    answers = {
        subprocess.run(
            [sys.executable, "-m", "scheduler_core", "simulate", str(some_of_every_family)],
            cwd=ROOT,
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=False,
        ).stdout
        for seed in ("0", "1", "4711")
    }
    assert len(answers) == 1
    assert answers.pop().count(b"\n") == 4 * len(FAMILIES)


def test_result_does_not_depend_on_the_order_of_recorded_objects(some_of_every_family: Path) -> None:
    for entry in entries(str(some_of_every_family)):
        document = entry.scenario
        backwards = {**document, **{kind: document[kind][::-1] for kind in LISTS if kind in document}}
        assert encode(simulate_document(backwards)) == encode(simulate_document(document)), document["name"]


@SEARCH
@given(data=st.data())
def test_result_does_not_depend_on_the_order_of_objects(data: st.DataObject) -> None:
    document = data.draw(clusters(cycles=2))
    shuffled = {**document, **{kind: data.draw(st.permutations(document[kind])) for kind in LISTS}}
    assert encode(simulate_document(shuffled)) == encode(simulate_document(document))


@SEARCH
@given(document=clusters(cycles=2))
def test_renaming_all_objects_only_renames_the_result(document: Object) -> None:
    other = json.loads(renamed(encode(document)))
    assert encode(simulate_document(other)) == renamed(encode(simulate_document(document)))


@SEARCH
@given(document=clusters(cycles=2))
def test_explain_option_only_adds_explanations(document: Object) -> None:
    explained = simulate_document(document, Options(explain=True))
    plain = simulate_document(document, Options(explain=False))
    for cycle in explained.get("cycles", ()):
        del cycle["explain"]
    assert encode(explained) == encode(plain)


@SEARCH
@given(document=clusters())
def test_progress_callback_does_not_change_the_result(document: Object) -> None:
    watched = simulate_document(document, Options(progress=lambda _done, _what: None))
    assert encode(watched) == encode(simulate_document(document))


@SEARCH
@given(document=clusters(cycles=2))
def test_result_does_not_depend_on_earlier_simulations(document: Object) -> None:
    first = encode(simulate_document(document))
    simulate_document({**document, "podgroups": document["podgroups"][::2]})
    assert encode(simulate_document(document)) == first
