"""`manage.py up`: run web and worker in one terminal, until Ctrl-C."""

import errno
import os
import socket
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any
from urllib.error import URLError
from urllib.request import urlopen

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from planner.accounts.services.accounts import ADMIN, admin_create
from planner.clusters.models import Snapshot
from planner.management.installed import InstalledCommand
from planner.management.supervisor import Program, Supervisor
from planner.work.recovery import worker_lost
from planner.work.workers import worker_name

WORKER = "worker"
HOST = "127.0.0.1"
"""Loopback only: a server for others runs behind a proxy, see docker-compose.yml."""


class Command(InstalledCommand):
    """Prepare the database, start web and worker, and keep them alive."""

    help = "Start web and worker on this machine; PORT chooses the port (8000)."

    def handle(self, **options: Any) -> None:
        """Prepare the database, then supervise the processes until a signal."""
        os.chdir(settings.BASE_DIR)
        with _listening(_requested_port()) as door:
            try:
                self._prepare()
                self._supervise(door)
            except KeyboardInterrupt:
                sys.exit(130)

    def _prepare(self) -> None:
        if _is_to_migrate():
            call_command("migrate", verbosity=0, interactive=False)
        call_command("collectstatic", verbosity=0, interactive=False)
        if not Snapshot.objects.exists():
            call_command("load_sample", verbosity=0)
        if password := admin_create():
            self._say(f"First start: log in as {ADMIN!r} with the password {password} (shown only once).")

    def _supervise(self, door: socket.socket) -> None:
        programs = [_web(door), _worker()]
        announcement = _Announcement(door.getsockname()[1], self._say)
        Supervisor(programs, on_death=_take_back_runs, say=self._say).run(on_tick=announcement.look)
        self._say("Queuecast has stopped.")

    def _say(self, line: str) -> None:
        # A closed terminal accepts no output; the processes still have to be stopped.
        with suppress(OSError):
            self.stdout.write(line)
            self.stdout.flush()


class _Announcement:
    """Prints the address once, as soon as the server responds."""

    def __init__(self, port: int, say: Callable[[str], None]) -> None:
        self._address = f"http://{HOST}:{port}/"
        self._say = say
        self._announced = False

    def look(self) -> None:
        if not self._announced and _answers(f"{self._address}healthz"):
            self._announced = True
            self._say(f"Queuecast is ready at {self._address} (Ctrl-C stops it).")


def _answers(address: str) -> bool:
    with suppress(URLError, OSError), urlopen(address, timeout=0.5):  # noqa: S310 - our own address
        return True
    return False


def _requested_port() -> int:
    text = os.environ.get("PORT", "8000")
    if not text.isdecimal() or not 0 < int(text) < 65536:
        raise CommandError(f"PORT={text} is not a port; choose one from 1 to 65535.")
    return int(text)


def _listening(port: int) -> socket.socket:
    """Return a socket that listens on `port`, or end with one line that says why not.

    The web server inherits it: who starts second learns so at once, and callers wait while it restarts.
    """
    try:
        return socket.create_server((HOST, port), backlog=128)
    except OSError as error:
        why = "is in use" if error.errno == errno.EADDRINUSE else f"cannot be used ({error.strerror})"
        raise CommandError(f"Port {port} {why}. Choose another one: PORT={port + 1} make run") from None


def _is_to_migrate() -> bool:
    """Return whether a migration is not applied; `migrate` takes a second even if none is."""
    executor = MigrationExecutor(connection)
    return bool(executor.migration_plan(executor.loader.graph.leaf_nodes()))


def _web(door: socket.socket) -> Program:
    return Program(
        "web",
        [
            sys.executable, "-m", "gunicorn", "config.wsgi:application", "--config", "python:config.gunicorn",
            "--bind", f"fd://{door.fileno()}", "--log-level", "warning", "--graceful-timeout", "2",
        ],
        files=[door.fileno()],
    )  # fmt: skip


def _worker() -> Program:
    # The file-system transport moves messages through the temporary folder; one disk makes that atomic.
    folder = settings.VAR_DIR / "tmp"
    folder.mkdir(exist_ok=True)
    return Program(
        WORKER,
        [
            sys.executable, "-m", "celery", "--quiet", "--app", "config", "worker", "--loglevel", "warning",
            "--without-gossip", "--without-mingle", "--without-heartbeat",
        ],
        {"TMPDIR": str(folder), "PYTHONWARNINGS": "ignore:You're running the worker with superuser"},
    )  # fmt: skip


def _take_back_runs(program: Program, process_id: int) -> None:
    if program.name == WORKER:
        worker_lost(worker_name(process_id))
