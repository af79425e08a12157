"""A PostgreSQL and a Redis of our own, each in a private folder on a free port."""

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def redis_server() -> str | None:
    """Return the program, if this machine has it."""
    return shutil.which("redis-server")


def postgresql_programs() -> Path | None:
    """Return the folder with initdb and pg_ctl, if this machine has them; Debian keeps them off the PATH."""
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    return next((folder for folder in folders if (folder / "initdb").exists()), None)


@contextmanager
def redis(program: str) -> Iterator[str]:
    """Run a Redis that keeps nothing; yield its URL."""
    port = free_port()
    server = subprocess.Popen(
        [program, "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        _wait_for_port(port)
        yield f"redis://127.0.0.1:{port}/0"
    finally:
        server.kill()
        server.wait()


@contextmanager
def postgresql(programs: Path) -> Iterator[str]:
    """Run a PostgreSQL with one empty database; yield its URL. As root it runs under its own user."""
    port = free_port()
    with tempfile.TemporaryDirectory(prefix="queuecast-postgresql-", dir="/tmp") as folder:
        user = _own_user(Path(folder))
        data = f"{folder}/data"
        as_user = ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups"] if user else []

        def call(program: str, *arguments: str) -> None:
            command = [*as_user, str(programs / program), *arguments]
            subprocess.run(command, check=True, cwd=folder, stdout=subprocess.DEVNULL)

        call("initdb", "-D", data, "-A", "trust", "-U", "queuecast", "-E", "UTF8", "--no-sync")
        options = f"-p {port} -k {folder} -c listen_addresses=127.0.0.1 -c fsync=off"
        call("pg_ctl", "-D", data, "-o", options, "-l", f"{folder}/log", "-w", "start")
        try:
            call("createdb", "-h", "127.0.0.1", "-p", str(port), "-U", "queuecast", "queuecast")
            yield f"postgres://queuecast@127.0.0.1:{port}/queuecast"
        finally:
            call("pg_ctl", "-D", data, "-m", "immediate", "stop")


def _own_user(folder: Path) -> str | None:
    """Give the folder to the user under which PostgreSQL runs; None when that is who we are."""
    if os.geteuid() != 0:
        return None
    account = pwd.getpwnam("postgres")
    os.chown(folder, account.pw_uid, account.pw_gid)
    return account.pw_name


def _wait_for_port(port: int) -> None:
    until = time.monotonic() + 10
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            if time.monotonic() > until:
                raise
            time.sleep(0.02)
        else:
            return
