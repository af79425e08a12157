"""Files are private to their user, killed processes leave none behind, a failed start names its cause."""

import os
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.request import urlopen

from tests.processes import services
from tests.processes.installation import DATABASE, ROOT, Installation
from tests.processes.topology import Web

HEAD = (
    "POST /api/v1/snapshots/ HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Token {token}\r\n"
    "Content-Type: multipart/form-data; boundary=x\r\nContent-Length: 9000000\r\n\r\n"
    '--x\r\nContent-Disposition: form-data; name="files"; filename="a.yaml"\r\n\r\n'
)


def test_written_files_are_readable_only_by_their_owner(tmp_path: Path) -> None:
    """Every process starts with a permissive umask."""
    os.umask(0o000)
    try:
        fresh, installed = (Installation(tmp_path / name, {}) for name in ("fresh", "var"))
        (fresh.folder / DATABASE).unlink()
        for folder in (fresh.folder, installed.folder):
            folder.chmod(0o755)
        fresh.manage("migrate", "--verbosity", "0", "sessions")
        installed.manage("collectstatic", "--noinput", "--verbosity", "0")
        server = Web(installed, services.free_port())
        installed.start_worker(REDIS_URL="")
        [run] = installed.drive("submit", "1", "1")
        installed.drive("await_runs", run)
        installed.manage("backup", str(tmp_path / "var" / "backups" / "one.jsonl.gz"))
        installed.close()
        server.kill()
    finally:
        os.umask(0o022)
    ours = {"worker.log", "web.log"}
    wide = [
        (str(path), oct(path.stat().st_mode))
        for folder in (fresh.folder, installed.folder)
        for path in (folder, *folder.rglob("*"))
        if path.stat().st_mode & 0o077 and path.name not in ours and not path.is_symlink()
    ]
    assert wide == []


def test_upload_of_a_killed_web_process_is_removed(tmp_path: Path) -> None:
    installed = Installation(tmp_path, {})
    installed.collect_static()
    token = installed.drive("caller")[0]
    server = Web(installed, services.free_port())
    try:
        with socket.create_connection(("127.0.0.1", server.port)) as client:
            client.sendall(HEAD.format(token=token).encode() + b"x" * 5_000_000)
            file = waited(lambda: next((tmp_path / "uploads").glob("*/*"), None))
            os.kill(int(file.parent.name), signal.SIGKILL)
            waited(lambda: not file.parent.exists())
        with urlopen(server.ready) as answer:  # noqa: S310 - our own address
            assert answer.status == 200
        # The next server removes the folders of a server that was killed as a whole.
        left = list((tmp_path / "uploads").iterdir())
        server.kill()
        assert all(path.exists() for path in left)
        server.start()
        assert not any(path.exists() for path in left)
    finally:
        server.kill()
        installed.close()


def waited(look: Callable[[], Any]) -> Any:
    """Poll and return the first result."""
    until = time.monotonic() + 30
    while not (seen := look()):
        assert time.monotonic() < until
        time.sleep(0.1)
    return seen


def complaint(folder: Path, *command: str, **variables: str) -> str:
    """Return the error output of a command of `manage.py`, otherwise of `up`, that cannot start."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("QUEUECAST_")}
    done = subprocess.run(
        [sys.executable, "manage.py", *(command or ["up"])],
        cwd=ROOT,
        env={
            **kept, "QUEUECAST_VAR": str(folder), "PORT": str(services.free_port()),
            "DJANGO_SETTINGS_MODULE": "config.settings", **variables,
        },
        capture_output=True, text=True, timeout=400, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    return done.stderr


def test_damaged_database_is_reported_with_the_restore_command(tmp_path: Path) -> None:
    (tmp_path / DATABASE).write_bytes(b"not a database at all" * 500)
    [line] = complaint(tmp_path).splitlines()
    assert line.startswith(f"The database {tmp_path / DATABASE} is damaged")
    assert "manage.py restore FILE" in line


def test_database_with_a_torn_page_is_reported(tmp_path: Path) -> None:
    Installation(tmp_path, {}).close()
    with sqlite3.connect(tmp_path / DATABASE) as rows:
        rows.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    content = bytearray((tmp_path / DATABASE).read_bytes())
    content[4096 : 4096 * 40] = os.urandom(4096 * 39)
    (tmp_path / DATABASE).write_bytes(content)
    [line] = complaint(tmp_path).splitlines()
    assert "is damaged" in line


def test_database_without_the_tables_of_this_release_is_reported(tmp_path: Path) -> None:
    [line] = complaint(tmp_path, "backup", str(tmp_path / "all.jsonl.gz")).splitlines()
    assert line.endswith("(no such table: planner_backup). Run manage.py migrate.")


def test_unwritable_folder_is_reported(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    [line] = complaint(tmp_path / "file" / "var").splitlines()
    assert str(tmp_path / "file" / "var") in line
    assert "QUEUECAST_VAR" in line


def test_unreachable_database_server_is_reported_without_the_password(tmp_path: Path) -> None:
    port = services.free_port()
    [line] = complaint(tmp_path, DATABASE_URL=f"postgres://me:secret@127.0.0.1:{port}/planner").splitlines()
    assert f"127.0.0.1:{port}/planner does not answer" in line
    assert "secret" not in line
