"""Does every recorded scenario end as in real Volcano?"""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import pytest

from scheduler_core import simulate_document
from scheduler_core.__main__ import Tally, entries
from scheduler_core.framework import placement
from scheduler_core.victims import preempt_bound, reclaim_bound
from tests.shared import SHARED

CASES = Path(__file__).parent / "cases"
NOT_COUNTED = {"volcano_unit_tests_not_modelled.jsonl.gz"}


def recordings() -> list[Path]:
    own = sorted(CASES.glob("*.jsonl.gz"))
    folders = ("golden", "golden/open", "golden/large")
    shared = sorted(path for folder in folders for path in SHARED.glob(f"{folder}/*.jsonl.gz"))
    names = {path.name for path in own}
    return own + [path for path in shared if path.name not in names | NOT_COUNTED]


@pytest.mark.parametrize("path", recordings(), ids=lambda path: path.name.removesuffix(".jsonl.gz"))
def test_a_recorded_file_is_equal(path: Path) -> None:
    tally = Tally()
    for entry in entries(str(path)):
        if entry.recorded is not None:
            tally.add(entry)
    assert tally.equal == tally.total, tally.told
    assert tally.messages >= 0.95 * tally.total, tally.told
    assert not [told for told in tally.told if "expected by" in told]


@pytest.mark.parametrize(
    "path", sorted(CASES.glob("*.jsonl.gz")), ids=lambda path: path.name.partition(".")[0]
)
def test_small_clusters_judged_as_large_ones_end_alike(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Most recorded clusters are so small that their nodes are judged one by one; here arrays judge them."""
    for module in (placement, preempt_bound, reclaim_bound):
        monkeypatch.setattr(module, "FEW", 0)
    tally = Tally()
    for entry in islice(entries(str(path)), 0, None, 4):
        tally.add(entry)
    assert tally.equal == tally.total, tally.told


@pytest.mark.skipif(not SHARED.is_dir(), reason=f"no recordings at {SHARED} (QUEUECAST_SHARED)")
def test_what_is_not_modelled_never_crashes() -> None:
    for entry in entries(str(SHARED / "golden" / "volcano_unit_tests_not_modelled.jsonl.gz")):
        result = simulate_document(entry.scenario)
        assert result.get("error") or result["cycles"]
