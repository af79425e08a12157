"""A backup restored elsewhere, on another database, shows the same pages and the same bytes."""

from pathlib import Path

import pytest

from tests.processes.conftest import Databases
from tests.processes.installation import Installation


@pytest.mark.service
def test_what_was_backed_up_looks_the_same_on_another_database(tmp_path: Path, databases: Databases) -> None:
    file = tmp_path / "backup.jsonl.gz"
    old = Installation(tmp_path / "old", {})
    try:
        old.manage("collectstatic", "--noinput", "--verbosity", "0")
        old.start_worker()
        [run] = old.drive("submit", "1", "1")
        old.drive("over", run)
        shown, content = old.drive("pages", run), old.drive("result", run)
        old.manage("backup", str(file))
    finally:
        old.close()
    assert file.stat().st_mode & 0o077 == 0
    new = Installation(tmp_path / "new", {"DATABASE_URL": databases()}, has_tables=True)
    try:
        new.manage("collectstatic", "--noinput", "--verbosity", "0")
        assert "Restored 1 accounts" in new.manage("restore", str(file))
        assert new.drive("result", run) == content
        assert new.drive("pages", run) == shown
        # New rows get numbers of their own after those that were restored.
        new.drive("submit", "1", "1")
        assert "is not empty" in new.complaint("restore", str(file))
    finally:
        new.close()
