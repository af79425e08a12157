"""No fault loses, duplicates or corrupts a run: the short form of `tests.processes.faults`."""

from collections.abc import Callable, Iterator

import pytest

from tests.processes.attempts import Row
from tests.processes.cell_kills import cell_workers_killed
from tests.processes.faults import database_stopped, redis_restarted, web_killed
from tests.processes.topology import Topology, topology


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Topology]:
    with topology(tmp_path_factory.mktemp("faults")) as running:
        yield running


SHORT = (redis_restarted, database_stopped, web_killed, cell_workers_killed)
"""One of each part. test_workers kills workers and simulations, too; `make test-long` causes all faults."""


@pytest.mark.service
@pytest.mark.parametrize("fault", SHORT, ids=lambda fault: fault.__name__)
def test_fault_loses_duplicates_or_corrupts_no_run(
    running: Topology, fault: Callable[[Topology, bool], Row]
) -> None:
    row = fault(running, False)
    assert row.is_harmless, str(row)
