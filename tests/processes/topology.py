"""The production setup on this machine: PostgreSQL, Redis, gunicorn and workers, which tests may kill.

``make topology`` runs it until Ctrl-C: ``python -m tests.processes.topology [workers]``.
"""

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO
from urllib.error import URLError
from urllib.request import urlopen

from tests.needs import unavailable
from tests.processes import services
from tests.processes.installation import ROOT, Installation

PATIENCE = 60.0


class Web:
    """The web server with its processes."""

    def __init__(self, installation: Installation, port: int, log: IO[bytes] | None = None) -> None:
        self._installation, self.port, self._log = installation, port, log
        self.address = f"http://127.0.0.1:{port}"
        self.ready = f"{self.address}/readyz"
        self.start()

    def start(self) -> None:
        self.process = subprocess.Popen(
            [
                sys.executable, "-m", "gunicorn", "config.wsgi:application",
                "--config", "python:config.gunicorn",
                "--bind", f"127.0.0.1:{self.port}", "--log-level", "critical",
            ],
            cwd=ROOT,
            env=self._installation.environment,
            start_new_session=True,
            stdout=self._log,
            stderr=self._log,
        )  # fmt: skip
        until = time.monotonic() + PATIENCE
        while not self._answers():
            assert self.process.poll() is None, "the web server ended by itself"
            assert time.monotonic() < until, "the web server does not answer"
            time.sleep(0.1)

    def kill(self) -> None:
        """Kill it immediately."""
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def _answers(self) -> bool:
        with suppress(URLError, OSError), urlopen(self.ready, timeout=1):  # noqa: S310
            return True
        return False


class Topology:
    """The whole setup, in its own folder."""

    def __init__(self, stack: ExitStack, folder: Path, **variables: str) -> None:
        redis, programs = services.redis_server(), services.postgresql_programs()
        if redis is None or programs is None:
            unavailable("Redis or PostgreSQL is not installed (scripts/install-test-services installs both)")
        assert redis is not None
        assert programs is not None
        self.redis = stack.enter_context(services.redis(redis))
        self.database = stack.enter_context(services.postgresql(programs))
        self.installation = Installation(
            folder,
            {"REDIS_URL": self.redis.url, "DATABASE_URL": self.database.url, **variables},
            has_tables=True,
        )
        self._stack = stack
        stack.callback(self.installation.close)

    def start_web(self) -> Web:
        self.installation.collect_static()
        web = Web(self.installation, services.free_port())
        self._stack.callback(web.kill)
        return web


@contextmanager
def topology(folder: Path, **variables: str) -> Iterator[Topology]:
    """Start database and broker; start web and workers on request."""
    with ExitStack() as stack:
        yield Topology(stack, folder, **variables)


def main(workers: int) -> None:
    """Run everything until Ctrl-C."""
    with tempfile.TemporaryDirectory(prefix="queuecast-") as folder, topology(Path(folder)) as running:
        running.installation.manage("load_sample")
        for _ in range(workers):
            running.installation.start_worker()
        web = running.start_web()
        password = running.installation.drive("admin")
        sys.stdout.write(
            f"{web.address} with {workers} workers; log in as admin, {password}. Ctrl-C stops it.\n"
        )
        with suppress(KeyboardInterrupt):
            signal.pause()


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 2)
