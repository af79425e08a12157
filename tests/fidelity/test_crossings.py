"""One eviction or allocation enters no more modules than documented."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.fidelity import crossings

PAGE = Path(__file__).parents[2] / "docs" / "decisions" / "0017-explanations-observe.md"


@pytest.mark.parametrize("name", ["one eviction by reclaim", "one allocation"])
@pytest.mark.parametrize("packages", [crossings.DECIDING, crossings.ALL], ids=["deciding", "all"])
def test_module_crossings_stay_within_the_documented_number(name: str, packages: tuple[str, ...]) -> None:
    modules, calls = crossings.counted(crossings.paths()[name], packages)
    row = re.search(rf"\| {name}, {', '.join(packages)} \|.*\| (\d+) \|.*\| (\d+) \|\n", PAGE.read_text())
    assert row is not None, f"| {name}, {', '.join(packages)} | … | {modules} | … | {calls} |"
    assert modules <= int(row[1])
    assert calls <= int(row[2])


def test_counted_eviction_and_allocation_take_place() -> None:
    session = crossings.reclaiming()
    crossings.reclaim.execute(session)
    assert [(decision.op, decision.pod) for decision in session.decisions] == [
        ("evict", "default/r-0"), ("pipeline", "default/w-0"),
    ]  # fmt: skip
    session = crossings.allocating()
    crossings.allocate.execute(session)
    assert [(decision.op, decision.pod) for decision in session.decisions] == [("bind", "default/w-0")]
