"""An experiment completes although its workers are killed at random.

On the default database without a broker; on PostgreSQL and Redis the same is one of `tests.processes.faults`.
"""

from pathlib import Path

import pytest

from tests.processes.cell_kills import CELLS, sweep_with_kills
from tests.processes.installation import Installation


@pytest.mark.long
@pytest.mark.timeout(3600)
def test_random_worker_kills_lose_duplicate_or_corrupt_no_cell(tmp_path: Path) -> None:
    installation = Installation(tmp_path, {})
    installation.patience = 1800.0
    try:
        row = sweep_with_kills(installation, CELLS)
    finally:
        installation.close()
    assert row.is_harmless, str(row)
    print(row)  # noqa: T201  # the figures of docs/faults.md
