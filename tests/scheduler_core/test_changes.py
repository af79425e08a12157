"""The arrays over all nodes follow changes of single nodes."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from scheduler_core.model.changes import ChangeLog, RowTable


def test_since_returns_nodes_changed_after_a_position() -> None:
    log = ChangeLog(4)
    for number in (2, 0, 2):
        log.add(number)
    assert set(log.since(0)) == {0, 2}
    assert set(log.since(2)) == {2}
    assert not log.since(len(log))


def test_since_returns_all_nodes_after_many_changes() -> None:
    log = ChangeLog(2)
    for _ in range(3):
        log.add(1)
    assert set(log.since(0)) == {0, 1}


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 9), st.booleans()), max_size=30))
def test_row_table_array_matches_its_rows(steps: list[tuple[int, int, bool]]) -> None:
    log = ChangeLog(4)
    table: RowTable[list[float], np.float64] = RowTable(np.zeros((4, 2)), log)
    for number, amount, looks in steps:
        table.rows[number][amount % 2] += amount
        log.add(number)
        if looks:
            assert table.array.tolist() == table.rows
    assert table.array.tolist() == table.rows
