"""Backups, made by hand or by workers, are verified and restore the same content into another database."""

import os
import time
from pathlib import Path

import pytest

from tests.processes.conftest import Databases
from tests.processes.installation import Installation


@pytest.mark.service
@pytest.mark.parametrize(
    "way", ["from SQLite to PostgreSQL", pytest.param("from PostgreSQL to SQLite", marks=pytest.mark.long)]
)
def test_restored_backup_shows_the_same_content_on_another_database(
    tmp_path: Path, databases: Databases, way: str
) -> None:
    file = tmp_path / "backup.jsonl.gz"
    of_old, of_new = (
        ({}, {"DATABASE_URL": databases(template="template1")})
        if way == "from SQLite to PostgreSQL"
        else ({"DATABASE_URL": databases()}, {})
    )
    old = Installation(tmp_path / "old", of_old, has_tables=True)
    try:
        old.collect_static()
        old.start_worker()
        [run] = old.drive("submit", "1", "1")
        old.drive("await_runs", run)
        shown, content = old.drive("pages", run), old.drive("result", run)
        actual = old.manage("backup", str(file))
        assert actual.endswith("verified\n")
    finally:
        old.close()
    assert file.stat().st_mode & 0o077 == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["backup.jsonl.gz", "old"], (
        "nothing is left over"
    )
    # A database without tables; `restore` creates them.
    new = Installation(tmp_path / "new", of_new, has_tables=True)
    try:
        new.collect_static()
        assert "is whole" in new.manage("restore", "--check", str(file))
        assert "Restored 1 accounts" in new.manage("restore", str(file))
        assert new.drive("result", run) == content
        assert new.drive("pages", run) == shown
        # New rows get ids after the restored ones.
        new.drive("submit", "1", "1")
        assert "is not empty" in new.complaint("restore", str(file))
    finally:
        new.close()


def test_backup_detects_a_damaged_document(tmp_path: Path) -> None:
    installed = Installation(tmp_path / "var", {})
    try:
        installed.drive("submit", "1", "1")
        installed.drive("damage_document")
    finally:
        installed.close()
    file = tmp_path / "backup.jsonl.gz"
    assert "is damaged: its bytes do not have this hash" in installed.complaint("backup", str(file))
    assert not file.exists()


def test_backup_is_consistent_during_concurrent_writes(installation: Installation, tmp_path: Path) -> None:
    """A backup has the rows of one moment: its verification would fail on a partly written run."""
    installation.drive("submit", "1", "20")
    installation.start_worker()
    assert "verified" in installation.manage("backup", str(tmp_path / "backup.jsonl.gz"))


@pytest.mark.parametrize(
    "installation",
    [
        pytest.param("defaults", marks=pytest.mark.long),
        pytest.param("redis-postgresql", marks=pytest.mark.service),
    ],
    indirect=True,
)
def test_workers_create_backups_and_keep_the_newest(installation: Installation, tmp_path: Path) -> None:
    folder = tmp_path / "backups"
    folder.mkdir()
    for day in (1, 2, 3):
        (folder / f"queuecast-2026-01-0{day}T000000Z.jsonl.gz").write_bytes(b"")
    leftover = folder / ".queuecast-draft-killed"
    leftover.mkdir()
    os.utime(leftover, (1, 1))
    installation.environment |= {"QUEUECAST_BACKUP_DIR": str(folder), "QUEUECAST_BACKUP_KEEP": "2"}
    installation.drive("submit", "1", "1")
    installation.start_worker()
    installation.start_worker()
    until = time.monotonic() + installation.patience
    while not any(path.stat().st_size for path in folder.glob("queuecast-*.jsonl.gz")):
        assert time.monotonic() < until, installation.log()
        time.sleep(0.5)
    time.sleep(2)
    new, old = sorted((path.name for path in folder.iterdir()), reverse=True)
    assert old == "queuecast-2026-01-03T000000Z.jsonl.gz"
    assert "No backup is due" in installation.manage("backup", "--if-due")
    assert installation.drive("backup_status") == [str(folder / new), ""]
    assert "is whole" in installation.manage("restore", "--check", str(folder / new))


def test_failed_backup_is_shown_in_the_status(tmp_path: Path) -> None:
    installed = Installation(tmp_path / "var", {})
    blocked = tmp_path / "file"
    blocked.write_text("no folder")
    installed.environment["QUEUECAST_BACKUP_DIR"] = str(blocked / "backups")
    output = installed.complaint("backup", "--if-due")
    backup, shown = installed.drive("backup_status")
    installed.close()
    assert (backup, shown) == (None, "Not a directory")
    assert shown in output
    assert str(blocked) in output
