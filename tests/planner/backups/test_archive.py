"""A changed, damaged or foreign backup is refused with a one-line message, and nothing is stored."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from planner.accounts.models import User, Workspace
from planner.backups.archive import Unfit, archive_write
from planner.clusters.models import Blob, Snapshot
from tests import factories

pytestmark = pytest.mark.django_db(transaction=True)


def write_backup(file: Path) -> Path:
    """Write a backup of a run into a file, and flush the database."""
    factories.run()
    with gzip.open(file, "wt", encoding="utf-8") as stream:
        archive_write(stream)
    call_command("flush", "--no-input", verbosity=0)
    return file


def with_changed_lines(change: Callable[[list[str]], object]) -> Callable[[bytes], bytes]:
    """Return a function that changes the lines of a backup."""

    def changed(content: bytes) -> bytes:
        lines = gzip.decompress(content).decode().splitlines(keepends=True)
        change(lines)
        return gzip.compress("".join(lines).encode())

    return changed


def _older(lines: list[str]) -> None:
    header = json.loads(lines[0])
    header["migrations"]["planner"] = "0001_initial"
    lines[0] = f"{json.dumps(header)}\n"


def _renamed(lines: list[str]) -> None:
    number = next(number for number, line in enumerate(lines) if '"planner.cluster"' in line)
    row = json.loads(lines[number])
    row["fields"]["name"] = "another"
    lines[number] = f"{json.dumps(row)}\n"


BROKEN = {
    "truncated": (lambda content: content[: len(content) // 2], "damaged or cut off"),
    "a flipped byte": (
        lambda content: content[:200] + bytes([content[200] ^ 255]) + content[201:],
        "damaged or cut off|is not a backup",
    ),
    "without its last line": (with_changed_lines(lambda lines: lines.pop()), "is cut off"),
    "a missing row": (with_changed_lines(lambda lines: lines.pop(2)), "does not have the rows"),
    "a changed row": (with_changed_lines(_renamed), "does not have the rows"),
    "an extra row": (with_changed_lines(lambda lines: lines.append(lines[1])), "goes on after its end"),
    "of another release": (with_changed_lines(_older), "Restore it with the release that made it"),
    "a pg_dump": (lambda content: gzip.compress(b"-- PostgreSQL database dump"), "is not a backup"),
    "other JSON": (lambda content: gzip.compress(b'{"kind": "List"}'), "is not a sealed backup"),
    "not gzipped": (lambda content: b"hello", "damaged or cut off"),
    "empty": (lambda content: b"", "is not a backup"),
}  # fmt: skip


def test_a_backup_is_restored(tmp_path: Path) -> None:
    call_command("restore", str(write_backup(tmp_path / "backup.jsonl.gz")))
    assert Snapshot.objects.count() == 1
    assert Workspace.objects.get().name == Workspace.DEFAULT


@pytest.mark.parametrize("how", BROKEN)
def test_a_broken_or_foreign_backup_is_refused_and_nothing_is_stored(tmp_path: Path, how: str) -> None:
    change, reason = BROKEN[how]
    file = write_backup(tmp_path / "backup.jsonl.gz")
    file.write_bytes(change(file.read_bytes()))
    with pytest.raises(CommandError, match=reason) as refused:
        call_command("restore", str(file))
    assert "\n" not in str(refused.value)
    assert not any(kind.objects.exists() for kind in (User, Snapshot, Blob))


def test_a_damaged_document_fails_the_backup(tmp_path: Path) -> None:
    blob = factories.run().input
    Blob.objects.filter(pk=blob.pk).update(packed=Blob.of(b"something else").packed)
    stream = (tmp_path / "backup").open("w")
    with stream, pytest.raises(Unfit, match=f"document {blob.pk} is damaged"):
        archive_write(stream)
