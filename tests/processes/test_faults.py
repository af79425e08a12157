"""No fault loses, doubles or spoils a run: the short form of `tests.processes.faults`."""

from collections.abc import Callable

import pytest

from tests.processes.faults import FAULTS, Row


@pytest.mark.service
@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
def test_nothing_is_lost_doubled_or_wrong(fault: Callable[[bool], Row]) -> None:
    row = fault(False)
    assert row.is_harmless, str(row)
