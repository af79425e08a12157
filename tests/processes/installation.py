"""A private Queuecast: its own folder, database and broker, with workers that can be killed."""

import atexit
import json
import multiprocessing
import os
import shutil
import signal
import subprocess
import sys
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from tests.kept import DATABASE, empty_database, static_files
from tests.processes.forks import simulations_of

ROOT = Path(__file__).parents[2]

PRELOADED = multiprocessing.get_context("forkserver")
"""Forks drivers and workers from a process that has already imported the modules that read no settings."""
PRELOADED.set_forkserver_preload([
    "celery.app.amqp", "celery.apps.worker", "celery.bin.celery", "celery.concurrency.thread",
    "django.contrib.admin.utils", "django.forms", "django.template.loader", "django.test", "jsonschema",
    "kombu.transport.filesystem", "kombu.transport.redis", "manifests", "planning.bundle",
    "planning.experiments.outcomes", "planning.fitting", "planning.forecasts.opening", "planning.rebase",
    "planning.search", "planning.upgrades", "planning.verdict", "planning.version", "pyotp", "redis",
    "structlog",
])  # fmt: skip

PATIENCE = 120.0
"""The default timeout of a step in seconds."""

SHORT = {
    "QUEUECAST_LEASE_SECONDS": "3",
    "QUEUECAST_HEARTBEAT_SECONDS": "0.2",
    "QUEUECAST_SWEEP_SECONDS": "1",
}


class Worker:
    """A Celery worker with its process group, forked like a driver; `manage.py up` starts it as a program."""

    def __init__(self, installation: "Installation", variables: dict[str, str]) -> None:
        started, starts = multiprocessing.Pipe(duplex=False)
        environment = {**installation.environment, **variables}
        self.process = PRELOADED.Process(target=_work, args=(environment, installation.folder, starts))
        self.process.start()
        starts.close()
        with started:
            started.recv()
        self._pid = self.process.pid or 0
        self._is_known_to_have_ended = False

    def simulations(self) -> list[int]:
        """Return the process ids of the runs' child processes."""
        return simulations_of(self._pid)

    def kill(self) -> None:
        """Kill it as the system would, without any cleanup."""
        os.killpg(self._pid, signal.SIGKILL)
        self.end()

    def stop(self) -> None:
        """Ask it to stop."""
        self.process.terminate()
        self.end()

    def end(self) -> None:
        """Wait for its end, for seconds only."""
        self._is_known_to_have_ended = True
        self.process.join(15)
        is_late = self.process.is_alive()
        self.process.kill()
        self.process.join()
        assert not is_late, "the worker does not stop"

    def ended_by_itself(self) -> bool:
        """Return whether it ended without being asked to stop."""
        return not self.process.is_alive() and not self._is_known_to_have_ended


def _work(environment: dict[str, str], folder: Path, starts: Connection) -> None:
    """Run a worker in this environment, and end as an interpreter does."""
    os.setsid()
    with (folder / "worker.log").open("ab") as log:
        for stream in (1, 2):
            os.dup2(log.fileno(), stream)
    os.environ.clear()
    os.environ.update(environment)
    with starts:
        starts.send(None)
    sys.argv = [
        "celery", "--quiet", "--app", "config", "worker",
        "--loglevel", "warning", "--without-gossip", "--without-mingle", "--without-heartbeat",
    ]  # fmt: skip
    from celery.__main__ import main

    try:
        main()
    finally:
        atexit._run_exitfuncs()


class Driver:
    """A process beside the installation that runs the steps of a test."""

    def __init__(self, installation: "Installation") -> None:
        self._patience = installation.patience
        self._steps, theirs = multiprocessing.Pipe()
        environment = {**installation.environment, "DRIVER_PATIENCE": str(self._patience - 30)}
        self._process = PRELOADED.Process(target=_drive, args=(environment, theirs))
        self._process.start()
        theirs.close()

    def answer(self, step: str, *arguments: Any) -> Any:
        """Return the answer of a step of `tests.processes.driver`."""
        self._steps.send(json.dumps([step, *arguments]))
        if not self._steps.poll(self._patience):
            self._process.kill()
            raise AssertionError(f"{step} took more than {self._patience:.0f} s")
        answer = json.loads(self._steps.recv())
        assert "error" not in answer, answer["error"]
        return answer["answer"]

    def end(self) -> None:
        """End it."""
        self._steps.close()
        self._process.join(PATIENCE)
        self._process.kill()
        self._process.join()
        self._process.close()


def _drive(environment: dict[str, str], steps: Connection) -> None:
    """Run a driver in this environment; no module imported before has read another one."""
    os.environ.clear()
    os.environ.update(environment)
    from tests.processes import driver

    driver.main(steps)


class Installation:
    """One installation; `variables` select its database and broker.

    Parameters
    ----------
    folder : Path
        Where it stores its files; created if missing.
    variables : dict
        Its environment variables that differ from the defaults.
    rhythm : dict, optional
        The intervals of the workers; short by default, so that tests do not wait for dead workers.
    has_tables : bool, optional
        Whether the database named in `variables` already has its tables.

    Attributes
    ----------
    patience : float
        The timeout of a step in seconds; read at the first step.

    """

    def __init__(
        self,
        folder: Path,
        variables: dict[str, str],
        *,
        rhythm: dict[str, str] = SHORT,
        has_tables: bool = False,
    ) -> None:
        self.folder = folder
        self.patience = PATIENCE
        folder.mkdir(exist_ok=True)
        inherited = {
            name: value for name, value in os.environ.items()
            if not name.startswith("QUEUECAST_") and name not in ("DATABASE_URL", "REDIS_URL")
        }  # fmt: skip
        self.environment = {
            **inherited, **rhythm, **variables,
            "QUEUECAST_VAR": str(folder), "DJANGO_SETTINGS_MODULE": "config.settings", "TMPDIR": str(folder),
        }  # fmt: skip
        self._workers: list[Worker] = []
        self._driver: Driver | None = None
        if "DATABASE_URL" not in variables:
            shutil.copy(empty_database(), folder / DATABASE)
        elif not has_tables:
            self.manage("migrate", "--verbosity", "0")

    def collect_static(self) -> None:
        """Provide the static files, as from `manage.py collectstatic`."""
        shutil.copytree(static_files(), self.folder / "static", dirs_exist_ok=True)

    def manage(self, *arguments: str) -> str:
        """Return the output of a command of manage.py."""
        return self._python(str(ROOT / "manage.py"), *arguments)

    def complaint(self, *arguments: str) -> str:
        """Return the error output of a failing command of manage.py."""
        done = self._call(str(ROOT / "manage.py"), *arguments)
        assert done.returncode == 1, done.stdout
        return done.stderr

    def drive(self, step: str, *arguments: Any) -> Any:
        """Return the answer of a step of `tests.processes.driver`."""
        if self._driver is None:
            self._driver = Driver(self)
        return self._driver.answer(step, *arguments)

    def module(self, name: str, *arguments: str) -> str:
        """Return the output of a module run as a program."""
        return self._python("-m", name, *arguments)

    def claims(self, number: int) -> dict[str, Any]:
        """Return the claims of a worker that only claims, see `tests.processes.driver`."""
        worker = Driver(self)
        answer: dict[str, Any] = worker.answer("claim_runs", str(number))
        worker.end()
        return answer

    def start_worker(self, **variables: str) -> Worker:
        self._workers.append(Worker(self, variables))
        return self._workers[-1]

    def close(self) -> None:
        """Kill the remaining workers, and end the driver."""
        ended = [worker for worker in self._workers if worker.ended_by_itself()]
        for worker in ended:
            worker.end()
        for worker in self._workers:
            if worker.process.is_alive():
                worker.kill()
        if self._driver is not None:
            self._driver.end()
            self._driver = None
        assert not ended, self.log()

    def log(self) -> str:
        return (self.folder / "worker.log").read_text()

    def _python(self, *arguments: str) -> str:
        done = self._call(*arguments)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def _call(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, *arguments],
            cwd=ROOT,
            env=self.environment,
            capture_output=True, text=True, timeout=self.patience, check=False,
        )  # fmt: skip
