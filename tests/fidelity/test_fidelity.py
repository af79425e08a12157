"""Every recorded scenario gives the result of real Volcano."""

from __future__ import annotations

import gzip
from itertools import islice
from pathlib import Path

import pytest

from scheduler_core import simulate_document
from scheduler_core.framework import node_columns, scores_together
from scheduler_core.reading import entries
from scheduler_core.tally import Tally
from scheduler_core.victims import preempt_bound, reclaim_bound
from tests.fidelity.recorded import picked
from tests.shared import SHARED

CASES = Path(__file__).parent / "cases"
NOT_COUNTED = {"volcano_unit_tests_not_modelled.jsonl.gz"}
SOME, FEW = 6, 2
"""How many evenly spread scenarios of a file are compared; `make test-long` and `make parity` use all."""


def recordings() -> list[Path]:
    own = sorted(CASES.glob("*.jsonl.gz"))
    folders = ("golden", "golden/open", "golden/large")
    shared = sorted(path for folder in folders for path in SHARED.glob(f"{folder}/*.jsonl.gz"))
    names = {path.name for path in own}
    return own + [path for path in shared if path.name not in names | NOT_COUNTED]


def step_of(path: Path, count: int = SOME) -> int:
    """Return the distance of `count` evenly spread recordings of a file."""
    return max(1, gzip.decompress(path.read_bytes()).count(b"\n") // count)


def tallied(path: Path, step: int) -> Tally:
    """Compare each `step`-th recording of a file; the others are not parsed."""
    tally = Tally()
    for entry in picked(path, lambda lines: islice(lines, 0, None, step)):
        if entry.recorded is not None:
            tally.add(entry)
    return tally


def name_of(path: Path) -> str:
    return path.name.removesuffix(".jsonl.gz")


ALIKE = {"openb-burst-hier-capacity-gpuspec33", "big5k"}
"""Large scenarios like others that are always compared: a burst, and running pods on thousands of nodes."""


@pytest.mark.parametrize(
    "path",
    [pytest.param(path, marks=pytest.mark.long if name_of(path) in ALIKE else ()) for path in recordings()],
    ids=name_of,
)
def test_sampled_recordings_of_each_file_are_equal(path: Path) -> None:
    assert_equal(tallied(path, step_of(path)))


@pytest.mark.long
@pytest.mark.parametrize("path", recordings(), ids=name_of)
def test_all_recordings_of_each_large_file_are_equal(path: Path) -> None:
    if step_of(path) > 1:  # otherwise the sample has them all
        assert_equal(tallied(path, 1))


def assert_equal(tally: Tally) -> None:
    assert tally.equal == tally.total, tally.differences
    assert tally.messages >= 0.95 * tally.total, tally.differences
    assert not [text for text in tally.differences if "expected by" in text]


@pytest.fixture
def everything_by_arrays(monkeypatch: pytest.MonkeyPatch) -> None:
    """Evaluate nodes as arrays even in small clusters, which are otherwise evaluated node by node."""
    monkeypatch.setattr(node_columns, "FEW_OF_A_CLASS", 0)
    for module in (scores_together, preempt_bound, reclaim_bound):
        monkeypatch.setattr(module, "FEW", 0)


@pytest.mark.usefixtures("everything_by_arrays")
@pytest.mark.parametrize("path", sorted(CASES.glob("*.jsonl.gz")), ids=name_of)
def test_sampled_small_clusters_evaluated_as_arrays_give_the_same_results(path: Path) -> None:
    tally = tallied(path, max(4, step_of(path, FEW)))
    assert tally.equal == tally.total, tally.differences


@pytest.mark.long
@pytest.mark.usefixtures("everything_by_arrays")
@pytest.mark.parametrize("path", sorted(CASES.glob("*.jsonl.gz")), ids=name_of)
def test_all_small_clusters_evaluated_as_arrays_give_the_same_results(path: Path) -> None:
    tally = tallied(path, 1)
    assert tally.equal == tally.total, tally.differences


@pytest.mark.skipif(not SHARED.is_dir(), reason=f"no recordings at {SHARED} (QUEUECAST_SHARED)")
def test_scenarios_with_unmodelled_features_never_crash() -> None:
    for entry in entries(str(SHARED / "golden" / "volcano_unit_tests_not_modelled.jsonl.gz")):
        result = simulate_document(entry.scenario)
        assert result.get("error") or result["cycles"]
