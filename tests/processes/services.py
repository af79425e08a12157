"""A private PostgreSQL and Redis, each in its own folder on a free port."""

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

import redis as redis_client

from tests.kept import cached, migrate, tables_version


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def redis_server() -> str | None:
    """Return the program's path, if it is installed."""
    return shutil.which("redis-server")


def postgresql_programs() -> Path | None:
    """Return the folder of initdb and pg_ctl, if installed; on Debian it is not in PATH."""
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    return next((folder for folder in folders if (folder / "initdb").exists()), None)


class Redis:
    """A Redis without persistence; it may be killed and restarted empty."""

    def __init__(self, program: str, *options: str) -> None:
        self._program = program
        self._options = options
        self._port = free_port()
        self.url = f"redis://127.0.0.1:{self._port}/0"
        self.start()

    def start(self) -> None:
        self._server = subprocess.Popen(
            [
                self._program,
                "--port",
                str(self._port),
                "--bind",
                "127.0.0.1",
                "--save",
                "",
                "--appendonly",
                "no",
                *self._options,
            ],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        wait_for_port(self._port)

    def kill(self) -> None:
        self._server.kill()
        self._server.wait()

    def used_mb(self) -> float:
        """Return the memory used by its data."""
        with redis_client.from_url(self.url) as client:
            return float(client.info("memory")["used_memory"]) / 2**20


class PostgreSQL:
    """A PostgreSQL with one database with empty tables; started by root, it runs as its own user."""

    def __init__(self, programs: Path, folder: Path) -> None:
        self._programs, self._folder = programs, folder
        self._port = free_port()
        user = _own_user(folder)
        self._as_user = ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups"] if user else []
        self.url = self._address("queuecast")

    def fill(self) -> None:
        """Create the database and its tables."""
        self._call("initdb", "-D", self._data, "-A", "trust", "-U", "queuecast", "-E", "UTF8", "--no-sync")
        self.start()
        self.create_database("queuecast", template="template1")
        with tempfile.TemporaryDirectory() as folder:
            migrate(Path(folder), DATABASE_URL=self.url)
        self._call("pg_ctl", "-D", self._data, "-m", "fast", "stop")

    def copy(self, data: Path) -> None:
        """Start from a copy of another instance's data."""
        subprocess.run(["cp", "-a", data, self._data], check=True)

    def create_database(self, name: str, *, template: str = "queuecast") -> str:
        """Create a copy of another database; return its address."""
        server = ("-h", "127.0.0.1", "-p", str(self._port), "-U", "queuecast")
        self._call("createdb", *server, "-T", template, name)
        return self._address(name)

    def _address(self, name: str) -> str:
        return f"postgres://queuecast@127.0.0.1:{self._port}/{name}"

    @property
    def _data(self) -> str:
        return f"{self._folder}/data"

    def start(self) -> None:
        options = f"-p {self._port} -k {self._folder} -c listen_addresses=127.0.0.1 -c fsync=off"
        self._call("pg_ctl", "-D", self._data, "-o", options, "-l", f"{self._folder}/log", "-w", "start")

    def stop(self) -> None:
        self._call("pg_ctl", "-D", self._data, "-m", "immediate", "stop")

    def _call(self, program: str, *arguments: str) -> None:
        command = [*self._as_user, str(self._programs / program), *arguments]
        subprocess.run(command, check=True, cwd=self._folder, stdout=subprocess.DEVNULL)


@contextmanager
def redis(program: str, *options: str) -> Iterator[Redis]:
    """Run a private Redis."""
    server = Redis(program, *options)
    try:
        yield server
    finally:
        server.kill()


@contextmanager
def postgresql(programs: Path) -> Iterator[PostgreSQL]:
    """Run a private PostgreSQL."""
    with tempfile.TemporaryDirectory(prefix="queuecast-postgresql-", dir="/tmp") as folder:
        server = PostgreSQL(programs, Path(folder))
        server.copy(_stored(programs))
        server.start()
        try:
            yield server
        finally:
            server.stop()


def _stored(programs: Path) -> Path:
    """Return the data folder of a PostgreSQL with empty tables."""

    def make(folder: Path) -> Path:
        with tempfile.TemporaryDirectory(prefix="queuecast-postgresql-", dir="/tmp") as place:
            server = PostgreSQL(programs, Path(place))
            server.fill()
            subprocess.run(["cp", "-a", f"{place}/data", folder], check=True)
        return folder / "data"

    return cached("postgresql", f"{programs.parent.name}-{tables_version()}", make)


def _own_user(folder: Path) -> str | None:
    """Give the folder to the user that runs PostgreSQL; return None if that is the current user."""
    if os.geteuid() != 0:
        return None
    account = pwd.getpwnam("postgres")
    os.chown(folder, account.pw_uid, account.pw_gid)
    return account.pw_name


def wait_for_port(port: int) -> None:
    """Wait until something listens on the port."""
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
