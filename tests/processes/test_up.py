"""`manage.py up`: everything in one terminal, from first start to Ctrl-C."""

import os
import pty
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from tests.kept import DATABASE
from tests.processes.forks import children_of
from tests.processes.installation import ROOT, SHORT
from tests.processes.services import free_port
from tests.processes.test_supervisor import wait_until_dead

PATIENCE = 90.0


class Up:
    """`manage.py up` in its own session, with its output in a file."""

    def __init__(self, folder: Path, port: int) -> None:
        self.port = port
        self.environment = {
            **{
                name: value for name, value in os.environ.items() if name not in ("DATABASE_URL", "REDIS_URL")
            },
            **SHORT,
            "QUEUECAST_VAR": str(folder),
            "DJANGO_SETTINGS_MODULE": "config.settings",
            "PORT": str(port),
        }
        self.output = folder / f"up-{time.monotonic_ns()}.log"
        with self.output.open("wb") as output:
            self.process = subprocess.Popen(
                [sys.executable, "manage.py", "up"],
                cwd=ROOT,
                env=self.environment,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )

    def stop(self) -> None:
        """Stop it as Ctrl-C does."""
        self.process.send_signal(signal.SIGINT)
        assert self.process.wait(PATIENCE) == 0

    def printed(self) -> str:
        return self.output.read_text()

    def wait_for(self, words: str) -> str:
        until = time.monotonic() + PATIENCE
        while words not in self.printed():
            assert self.process.poll() is None, self.printed()
            assert time.monotonic() < until, self.printed()
            time.sleep(0.1)
        return self.printed()

    def children(self) -> dict[str, int]:
        """Return the process ids of web and worker."""
        return {
            "web" if b"gunicorn" in Path(f"/proc/{pid}/cmdline").read_bytes() else "worker": pid
            for pid in children_of(self.process.pid)
        }

    def family(self) -> list[int]:
        """Return the process ids of everything below the supervisor."""
        found, waiting = [], [self.process.pid]
        while waiting:
            waiting += children_of(waiting.pop())
            found = list({*found, *waiting})
        return found

    def status(self, path: str, token: str = "") -> int:
        headers = {"Authorization": f"Token {token}"} if token else {}
        try:
            with urlopen(
                Request(f"http://127.0.0.1:{self.port}{path}", headers=headers), timeout=PATIENCE
            ) as answer:
                return int(answer.status)
        except HTTPError as error:
            return error.code

    def manage(self, *arguments: str) -> str:
        return subprocess.run(
            [sys.executable, "manage.py", *arguments],
            cwd=ROOT,
            env=self.environment,
            capture_output=True,
            text=True,
            check=True,
        ).stdout


@contextmanager
def started(folder: Path, port: int | None = None) -> Iterator[Up]:
    up = Up(folder, port or free_port())
    try:
        yield up
    finally:
        up.process.kill()
        up.process.wait()


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Up]:
    """A first start."""
    with started(tmp_path_factory.mktemp("first")) as up:
        up.wait_for("is ready at")
        yield up


@pytest.fixture(scope="module")
def used_folder(first: Up) -> Path:
    """The folder after the first start."""
    first.stop()
    return first.output.parent


@pytest.fixture(scope="module")
def up(used_folder: Path, first: Up) -> Iterator[Up]:
    """A second start on the same port, for tests that leave it running."""
    with started(used_folder, first.port) as up:
        up.wait_for("is ready at")
        yield up


def test_first_and_second_start(first: Up, request: pytest.FixtureRequest) -> None:
    [password] = re.findall(r"password (\S+)", first.printed())
    assert first.status("/login/") == 200
    assert first.status("/api/v1/scenarios/") == 401
    token = first.manage("token", "admin").strip()
    assert re.fullmatch(r"[0-9a-f]{64}", token)
    assert first.status("/api/v1/scenarios/", token) == 200

    family = first.family()
    first.stop()
    for pid in family:
        wait_until_dead(pid)
    assert "Traceback" not in first.printed()

    second: Up = request.getfixturevalue("up")
    assert "password" not in second.printed()
    assert second.status("/api/v1/scenarios/", token) == 200
    assert password not in second.printed()


def test_port_in_use_gives_one_clear_error_line(up: Up, tmp_path: Path) -> None:
    second = Up(tmp_path, up.port)
    assert second.process.wait(PATIENCE) == 1
    assert second.printed() == (
        f"CommandError: Port {up.port} is in use. Choose another one: PORT={up.port + 1} make run\n"
    )


def test_killed_processes_are_restarted(up: Up) -> None:
    first = up.children()
    for pid in first.values():
        os.kill(pid, signal.SIGKILL)
    up.wait_for("worker | exited with status -9")
    up.wait_for("web    | exited with status -9")
    assert up.status("/healthz") == 200
    second = up.children()
    assert second.keys() == first.keys()
    assert not set(second.values()) & set(first.values())


def test_web_processes_share_modules_but_no_database_connection(up: Up) -> None:
    assert up.status("/login/") == 200
    reader = up.children()["web"]
    until = time.monotonic() + PATIENCE
    while len(processes := children_of(reader)) < 2:  # the second one starts after the first one answers
        assert time.monotonic() < until
        time.sleep(0.1)
    for pid in processes:
        assert memory_of(pid)["Pss"] < 0.8 * memory_of(pid)["Rss"]
    files = [os.readlink(file) for file in Path(f"/proc/{reader}/fd").iterdir()]
    assert not [file for file in files if DATABASE in file]


def memory_of(pid: int) -> dict[str, int]:
    """Return a process's memory in kilobytes by kind; Pss splits shared memory between the processes."""
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()[1:]
    return {name: int(rest.split()[0]) for name, _, rest in (line.partition(":") for line in lines)}


def test_second_ctrl_c_ends_everything_immediately(up: Up) -> None:
    """The last test of this start."""
    family = up.family()
    up.process.send_signal(signal.SIGINT)
    time.sleep(0.3)
    up.process.send_signal(signal.SIGINT)
    up.process.wait(PATIENCE)
    for pid in family:
        wait_until_dead(pid)


def test_closing_the_terminal_leaves_no_process(used_folder: Path, tmp_path: Path) -> None:
    shutil.copytree(used_folder, tmp_path, dirs_exist_ok=True)
    environment = {**os.environ, **SHORT, "QUEUECAST_VAR": str(tmp_path), "PORT": str(free_port())}
    environment["DJANGO_SETTINGS_MODULE"] = "config.settings"
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(ROOT)
        os.execve(sys.executable, [sys.executable, "manage.py", "up"], environment)  # noqa: S606
    output, until = b"", time.monotonic() + PATIENCE
    while b"is ready at" not in output:
        assert time.monotonic() < until, output
        output += os.read(terminal, 4096)
    children = children_of(pid)
    assert len(children) == 2
    os.close(terminal)
    os.waitpid(pid, 0)
    for child in children:
        wait_until_dead(child)
