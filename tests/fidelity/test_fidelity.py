"""Does every recorded scenario end as in real Volcano?"""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.shared import SHARED

from scheduler_core import Options, simulate_document
from scheduler_core.__main__ import entries
from scheduler_core.conf import UNMODELLED_PLUGINS, parse_conf
from scheduler_core.parity import first_difference, first_message_difference

CASES = Path(__file__).parent / "cases"
NOT_COUNTED = {"volcano_unit_tests_not_modelled.jsonl.gz"}


def recordings() -> list[Path]:
    own = sorted(CASES.glob("*.jsonl.gz"))
    shared = sorted([*SHARED.glob("golden/*.jsonl.gz"), *SHARED.glob("golden/large/*.jsonl.gz")])
    names = {path.name for path in own}
    return own + [path for path in shared if path.name not in names | NOT_COUNTED]


def is_modelled(scenario: dict) -> bool:
    try:
        conf = parse_conf(scenario.get("scheduler_conf"))
    except Exception:
        return True
    return not any(option.name in UNMODELLED_PLUGINS for option in conf.options())


@pytest.mark.parametrize("path", recordings(), ids=lambda path: path.name.removesuffix(".jsonl.gz"))
def test_a_recorded_file_is_equal(path: Path) -> None:
    differences, messages, total = [], 0, 0
    for entry in entries(str(path)):
        if entry.recorded is None or not is_modelled(entry.scenario):
            continue
        total += 1
        ours = simulate_document(entry.scenario, Options(explain=False))
        difference = first_difference(ours, entry.recorded)
        if difference is not None:
            differences.append(f"{entry.scenario.get('name')}: {difference}")
        messages += first_message_difference(ours, entry.recorded) is None
    assert differences == []
    assert messages >= 0.95 * total


@pytest.mark.skipif(not SHARED.is_dir(), reason=f"no recordings at {SHARED} (QUEUECAST_SHARED)")
def test_what_is_not_modelled_never_crashes() -> None:
    for entry in entries(str(SHARED / "golden" / "volcano_unit_tests_not_modelled.jsonl.gz")):
        result = simulate_document(entry.scenario)
        assert result.get("error") or result["cycles"]
