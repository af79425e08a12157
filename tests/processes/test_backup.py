"""A backup restored elsewhere, on another database, shows the same pages and the same bytes."""

from pathlib import Path

import pytest

from tests.needs import unavailable
from tests.processes import services
from tests.processes.installation import Installation


@pytest.mark.service
def test_what_was_backed_up_looks_the_same_on_another_database(tmp_path: Path) -> None:
    programs = services.postgresql_programs()
    if programs is None:
        unavailable("PostgreSQL is not installed (scripts/install-test-services installs it)")
    assert programs is not None
    file = tmp_path / "backup.jsonl.gz"
    old = Installation(tmp_path / "old", {})
    try:
        old.manage("collectstatic", "--noinput", "--verbosity", "0")
        old.start_worker()
        [run] = old.drive("submit", "1", "1")
        old.drive("over", run)
        shown = old.drive("pages", run)
        old.manage("backup", str(file))
    finally:
        old.close()
    assert file.stat().st_mode & 0o077 == 0
    with services.postgresql(programs) as database:
        new = Installation(tmp_path / "new", {"DATABASE_URL": database.url})
        new.manage("collectstatic", "--noinput", "--verbosity", "0")
        assert "Restored 1 accounts" in new.manage("restore", str(file))
        assert new.drive("result", run) == old.drive("result", run)
        assert new.drive("pages", run) == shown
        # New rows get numbers of their own after those that were restored.
        new.drive("submit", "1", "1")
        assert "is not empty" in new.complaint("restore", str(file))
