"""Faults of each part of the production setup, and their effects on runs, as a table.

``python -m tests.processes.faults [long]`` prints it as Markdown: the short form, or the one with long
outages and a thousand runs. A row has the number of submitted runs, and how many of them were lost (they did
not succeed), duplicated (rows that their result does not have) or wrong (other bytes than the core prints).
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from urllib.error import URLError
from urllib.request import Request, urlopen

from tests.needs import unavailable
from tests.processes.attempts import HEAD, Row, attempt
from tests.processes.cell_kills import cell_workers_killed
from tests.processes.installation import PATIENCE
from tests.processes.storm import random_kills
from tests.processes.topology import Topology, Web, topology


def killed_idle(running: Topology, long: bool) -> Row:
    """An idle worker dies, and its message box with it."""
    with attempt(running) as on:
        on.installation.start_worker().kill()
        runs = on.submit(4)
        on.installation.start_worker()
        return on.row("worker killed -9 while idle", runs)


def killed_computing(running: Topology, long: bool) -> Row:
    """A worker dies in the middle of simulations."""
    with attempt(running) as on:
        worker = on.installation.start_worker()
        runs = on.submit_long(2 if long else 1)
        worker.kill()
        on.installation.start_worker()
        return on.row("worker killed -9 in mid-run", runs + on.submit(4))


def killed_storing(running: Topology, long: bool) -> Row:
    """A worker dies while it writes a large outcome."""
    with attempt(running) as on:
        worker = on.installation.start_worker(QUEUECAST_CONCURRENCY="1")
        runs = on.submit_long(1)
        until = time.monotonic() + on.installation.patience
        while not on.installation.drive("kill_while_storing", runs[-1], str(worker.process.pid)):
            assert time.monotonic() < until, "the worker was never caught"
            runs += on.submit_long(1)
        worker.end()
        on.installation.start_worker()
        return on.row("worker killed -9 while storing", runs)


def simulation_killed(running: Topology, long: bool) -> Row:
    """The system kills a simulation for its memory; the worker continues and retries the run once."""
    with attempt(running) as on:
        worker = on.installation.start_worker(QUEUECAST_CONCURRENCY="1")
        runs = on.submit_long(1)
        [simulation] = worker.simulations()
        os.kill(simulation, signal.SIGKILL)
        return on.row("a simulation killed -9", runs + on.submit(4))


def redis_restarted(running: Topology, long: bool) -> Row:
    """Redis dies with all messages, is down, and restarts empty, while runs are submitted."""
    with attempt(running) as on:
        on.installation.start_worker()
        runs = on.submit(4)
        on.running.redis.kill()
        runs += on.submit(4)
        time.sleep(30 if long else 2)
        on.running.redis.start()
        return on.row("Redis killed and restarted empty", runs + on.submit(2))


def database_stopped(running: Topology, long: bool) -> Row:
    """PostgreSQL stops immediately during simulations and is down for a while."""
    away = 30 if long else 5
    with attempt(running) as on:
        on.installation.start_worker()
        runs = [*on.submit(3), *on.submit_long(1)]
        on.running.database.stop()
        time.sleep(away)
        on.running.database.start()
        return on.row(f"PostgreSQL stopped for {away} s and restarted", runs + on.submit(2))


def web_killed(running: Topology, long: bool) -> Row:
    """The web server dies during calls that submit runs; the callers retry with the same keys."""
    count = 24 if long else 12
    with attempt(running) as on:
        on.installation.start_worker()
        web = on.running.start_web()
        scenario, token = on.installation.drive("script")
        again = threading.Timer(0.15, lambda: (web.kill(), web.start()))
        again.start()
        with ThreadPoolExecutor(8) as callers:
            answers = callers.map(lambda key: _submitted(web, scenario, token, key), range(count))
            runs = list(answers)
        again.join()
        kept = on.installation.drive("runs_of", scenario)
        row = on.row("web killed -9 in mid-request", runs, f"{len(kept)} runs kept of {count} calls")
        return row if sorted(kept) == sorted(runs) else Row(**{**vars(row), "doubled": len(kept) - count})


def _submitted(web: Web, scenario: str, token: str, key: int) -> str:
    """Submit a run until there is a response, as a script would; return the run's id."""
    until = time.monotonic() + 60
    while time.monotonic() < until:
        call = Request(  # noqa: S310 - our own address
            f"{web.address}/api/v1/scenarios/{scenario}/runs/",
            data=json.dumps({"cycles": key + 1}).encode(),
            headers={
                "Authorization": f"Token {token}",
                "Content-Type": "application/json",
                "Idempotency-Key": f"{key}",
            },
        )  # fmt: skip
        try:
            with urlopen(call, timeout=30) as answer:  # noqa: S310 - our own address
                return str(json.load(answer)["id"])
        except (URLError, OSError):
            time.sleep(0.2)
    raise TimeoutError(f"call {key} was never answered")


def disk_full(running: Topology, long: bool) -> Row:
    """The workers' disk is full: runs fail with that message, and the worker continues."""
    with attempt(running) as on, _small_disk() as disk:
        on.installation.start_worker(TMPDIR=str(disk))
        first = on.submit(1)
        on.installation.drive("await_runs", *first)
        _fill(disk / "ballast")
        full = on.submit(2)
        output = on.installation.drive("count_failures", *full)
        assert output["lost"] == 2, "the disk was not full"
        assert all("disk is full" in error for error in output["errors"]), output["errors"]
        (disk / "ballast").unlink()
        return on.row("disk full where results go", first + on.submit(4), "2 runs before failed and said why")


@contextmanager
def _small_disk() -> Iterator[Path]:
    """Mount a disk of four megabytes."""
    with tempfile.TemporaryDirectory(prefix="queuecast-disk-") as folder:
        mounted = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=4m", "none", folder], capture_output=True, check=False
        )
        if mounted.returncode:
            unavailable("a small disk cannot be mounted here; it takes root")
        try:
            yield Path(folder)
        finally:
            subprocess.run(["umount", "--lazy", folder], check=True)


def _fill(ballast: Path) -> None:
    with ballast.open("wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(4096))
        except OSError:
            pass


def clock_jumped(running: Topology, long: bool) -> Row:
    """One worker's clock is an hour ahead; it must not consider the other's runs abandoned."""
    program = shutil.which("faketime")
    if program is None:
        unavailable("faketime is not installed (scripts/install-test-services installs it)")
    library = sorted(Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"))[0]
    with attempt(running) as on:
        on.installation.start_worker()
        runs = on.submit_long(1)
        on.installation.start_worker(
            LD_PRELOAD=str(library), FAKETIME="+3600s", FAKETIME_DONT_FAKE_MONOTONIC="1"
        )
        return on.row("a worker's clock jumps an hour ahead", runs + on.submit(6))


def delivered_twice(running: Topology, long: bool) -> Row:
    """Every message is delivered three times."""
    with attempt(running) as on:
        runs = on.submit(6)
        for _ in range(2):
            on.installation.drive("redeliver_messages", *runs)
        for _ in range(2):
            on.installation.start_worker()
        return on.row("every message delivered three times", runs)


FAULTS: tuple[Callable[[Topology, bool], Row], ...] = (
    killed_idle, killed_computing, killed_storing, simulation_killed, redis_restarted, database_stopped,
    web_killed, disk_full, clock_jumped, delivered_twice, cell_workers_killed, random_kills,
)  # fmt: skip


def main(long: bool) -> int:
    """Print the table; exit with 0 if every fault was harmless."""
    rows = []
    sys.stdout.write(f"{HEAD}\n")
    with tempfile.TemporaryDirectory(prefix="queuecast-faults-") as folder, topology(Path(folder)) as running:
        running.installation.patience = 3600.0 if long else PATIENCE
        for fault in FAULTS:
            rows.append(fault(running, long))
            sys.stdout.write(f"{rows[-1]}\n")
            sys.stdout.flush()
    return 0 if all(row.is_harmless for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main("long" in sys.argv[1:]))
