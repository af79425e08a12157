"""No fault loses, doubles or spoils a run: the short form of `tests.processes.faults`."""

from collections.abc import Callable, Iterator

import pytest

from tests.processes.attempts import Row
from tests.processes.faults import FAULTS, clock_jumped, killed_computing, killed_storing, simulation_killed
from tests.processes.storm import random_kills
from tests.processes.topology import Topology, topology


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Topology]:
    with topology(tmp_path_factory.mktemp("faults")) as running:
        yield running


LONG = (killed_computing, killed_storing, simulation_killed, clock_jumped, random_kills)
"""Those that take a minute. test_workers kills two of them, too; short ones kill each part of a storm."""
SHORT = tuple(fault for fault in FAULTS if fault not in LONG)


@pytest.mark.service
@pytest.mark.parametrize("fault", SHORT, ids=lambda fault: fault.__name__)
def test_nothing_is_lost_doubled_or_wrong(running: Topology, fault: Callable[[Topology, bool], Row]) -> None:
    row = fault(running, False)
    assert row.is_harmless, str(row)
