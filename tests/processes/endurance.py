"""The memory of every process and of Redis over twelve hours of work.

``python -m tests.processes.endurance [edits] [minutes]`` imports clusters, edits, previews, reads pages and
runs over HTTP until so many edits are made, or so many minutes are over, and prints what grew.
"""

import json
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

from tests.processes import services
from tests.processes.forks import children_of, fork_servers_of
from tests.processes.topology import Topology, topology

EDITS = 10_000
A_ROUND = 50
"""Edits of one imported cluster."""
AT_ONCE = 3
WARM = 0.3
"""The fraction of the edits after which everything has been used and every cache is filled."""
CACHE = ("--maxmemory", "8mb", "--maxmemory-policy", "allkeys-lru")
"""As in docker-compose.yml, but small, so that it is full during the test."""
MOST_MB = 15.0
"""The maximum growth of a process after the warm-up."""

SMALL = {"QUEUECAST_SNAPSHOT_CACHE_BYTES": "1000000"}
"""The snapshot cache of each web process is also full during the test."""

HEAD = "| part | at the start | warm | at the end | slope after it is warm |\n|---|---|---|---|---|"


@dataclass(frozen=True)
class Caller:
    """A script and a browser of one account."""

    address: str
    token: str
    session: str

    def api(self, method: str, path: str, body: Any = None, **headers: str) -> Any:
        """Call the API; return its response."""
        kind = "application/merge-patch+json" if method == "PATCH" else "application/json"
        sent = None if body is None else json.dumps(body).encode()
        headers |= {"Authorization": f"Token {self.token}", "Content-Type": kind}
        return json.loads(self._answer(method, f"/api/v1{path}", sent, headers) or b"null")

    def page(self, path: str) -> bytes:
        """Read a page."""
        return self._answer("GET", path, None, {"Cookie": f"sessionid={self.session}"})

    def _answer(self, method: str, path: str, body: bytes | None, headers: dict[str, str]) -> bytes:
        call = Request(self.address + path, data=body, headers=headers, method=method)  # noqa: S310 - our own
        with urlopen(call, timeout=120) as answer:  # noqa: S310
            return bytes(answer.read())


@dataclass
class Growth:
    """A size over the number of edits."""

    edits: list[int] = field(default_factory=list)
    mb: list[float] = field(default_factory=list)

    def note(self, edits: int, mb: float) -> None:
        """Record a size."""
        self.edits.append(edits)
        self.mb.append(mb)

    @property
    def cold(self) -> float:
        """Return the first size."""
        return self.mb[0]

    @property
    def warm(self) -> float:
        """Return the median size of the first third after the warm-up."""
        late = self._late()
        return statistics.median(late[: max(1, len(late) // 3)])

    @property
    def end(self) -> float:
        """Return the median size of the last third."""
        late = self._late()
        return statistics.median(late[-max(1, len(late) // 3) :])

    @property
    def per_thousand(self) -> float:
        """Return the slope after the warm-up, in MB per thousand edits."""
        late = self._late()
        edits = self.edits[-len(late) :]
        return statistics.linear_regression(edits, late).slope * 1000 if len(late) > 1 else 0.0

    def _late(self) -> list[float]:
        """Return the sizes after the warm-up."""
        whole = self.edits[-1]
        return [mb for edits, mb in zip(self.edits, self.mb, strict=True) if edits >= WARM * whole]


class Endurance:
    """The production setup with a small cache, and the memory of its parts."""

    def __init__(self, running: Topology, cache: services.Redis) -> None:
        self._running, self._cache = running, cache
        self._web = running.start_web()
        self._worker = running.installation.start_worker()
        token, session = running.installation.drive("caller")
        self.caller = Caller(self._web.address, token, session)
        self._cluster = json.dumps(running.installation.drive("cluster"))
        self.growth: dict[str, Growth] = {}
        self.done = dict.fromkeys(("imports", "edits", "previews", "pages", "runs"), 0)
        self._lock = threading.Lock()

    def weigh(self) -> None:
        """Record the current size of every part."""
        pids = children_of(self._web.process.pid)
        sizes = {f"web process {number}": _resident(pid) for number, pid in enumerate(sorted(pids), 1)}
        worker = self._worker.process.pid
        sizes["worker"] = _resident(worker)
        sizes["fork server"] = sum(map(_resident, fork_servers_of(worker)))
        sizes["Redis, messages"] = self._running.redis.used_mb()
        sizes["Redis, cache"] = self._cache.used_mb()
        sizes["database"] = self._running.installation.drive("database_mb")
        for name, mb in sizes.items():
            self.growth.setdefault(name, Growth()).note(self.done["edits"], mb)

    def round(self, number: int) -> None:
        """Import a cluster, edit it like a user would for a few minutes, and run it twice."""
        call = self.caller.api
        cluster = json.loads(self._cluster)
        cluster["pods"][0]["metadata"]["labels"] = {"round": f"{number}"}
        imported = call("POST", "/snapshots/", {"name": f"round {number}", "scenario": cluster})
        planned = call("POST", "/scenarios/", {"name": f"round {number}", "snapshot": imported["id"]})
        scenario = f"/scenarios/{planned['id']}"
        self._count(imports=1)
        for edit in range(A_ROUND):
            self._edit(scenario, edit)
            if edit % 5 == 4:
                call("GET", f"{scenario}/preview/")
                self.caller.page(f"{scenario}/")
                self._count(previews=1, pages=1)
            if edit % 25 == 24:
                self._run(scenario)
        self.caller.page("/")
        self._count(pages=1)

    def _edit(self, scenario: str, number: int) -> None:
        """Change a queue, a node or a job, or undo the last change."""
        call = self.caller.api
        seen = {"If-Match": str(call("GET", f"{scenario}/")["revision"])}
        match number % 5:
            case 0 | 1:
                call("PATCH", f"{scenario}/queues/waits/", {"weight": number + 2}, **seen)
            case 2:
                call("PATCH", f"{scenario}/nodes/n{number % 10}/", {"spec": {"unschedulable": True}}, **seen)
            case 3:
                call("POST", f"{scenario}/undo/", {}, **seen)
            case _:
                call("POST", f"{scenario}/queues/", {"name": f"team-{number}", "weight": number}, **seen)
        self._count(edits=1)

    def _run(self, scenario: str) -> None:
        run = self.caller.api("POST", f"{scenario}/runs/", {"cycles": 2})["id"]
        until = time.monotonic() + 120
        while (actual := self.caller.api("GET", f"/runs/{run}/"))["finished"] is None:
            assert time.monotonic() < until, actual
            time.sleep(0.2)
        assert actual["state"] == "succeeded", actual
        self.caller.page(f"/runs/{run}/")
        self.caller.api("GET", f"/runs/{run}/decisions/")
        self._count(runs=1, pages=1)

    def _count(self, **done: int) -> None:
        with self._lock:
            for name, more in done.items():
                self.done[name] += more


@contextmanager
def endurance(folder: Path) -> Iterator[Endurance]:
    """Start everything."""
    program = services.redis_server()
    assert program is not None, "Redis is not installed (scripts/install-test-services installs it)"
    with ExitStack() as stack:
        cache = stack.enter_context(services.redis(program, *CACHE))
        limits = {
            "QUEUECAST_CACHE_URL": cache.url,
            "QUEUECAST_WRITES": "",
            "QUEUECAST_LOG_LEVEL": "ERROR",
            **SMALL,
        }
        running = stack.enter_context(topology(folder, **limits))
        yield Endurance(running, cache)


def lasted(on: Endurance, edits: int, minutes: float) -> None:
    """Work until the edits are made or the time is over; record all sizes after each round."""
    until = time.monotonic() + 60 * minutes
    rounds = iter(range(-(-edits // A_ROUND)))
    lock = threading.Lock()

    def work() -> None:
        while time.monotonic() < until:
            with lock:
                number = next(rounds, None)
            if number is None:
                return
            on.round(number)

    on.weigh()
    with ThreadPoolExecutor(AT_ONCE) as pool:
        working = [pool.submit(work) for _ in range(AT_ONCE)]
        while not all(work.done() for work in working):
            time.sleep(5)
            on.weigh()
    for work in working:
        work.result()
    on.weigh()


def _resident(pid: int | str) -> float:
    """Return the resident memory of a process in MB."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS")) / 1024


def main(edits: int, minutes: float) -> int:
    """Print the table; exit with 0 if nothing but the database grew."""
    with tempfile.TemporaryDirectory(prefix="queuecast-endurance-") as folder, endurance(Path(folder)) as on:
        began = time.monotonic()
        lasted(on, edits, minutes)
        took = (time.monotonic() - began) / 60
    sys.stdout.write(", ".join(f"{count} {what}" for what, count in on.done.items()))
    sys.stdout.write(f" in {took:.0f} minutes\n\n")
    sys.stdout.write(
        "| part | at the start | warm | at the end | slope after it is warm |\n|---|---|---|---|---|\n"
    )
    for name, size in on.growth.items():
        sizes = " | ".join(f"{mb:.1f} MB" for mb in (size.cold, size.warm, size.end))
        sys.stdout.write(f"| {name} | {sizes} | {size.per_thousand:+.2f} MB per 1,000 edits |\n")
    grown = [
        name for name, size in on.growth.items() if name != "database" and size.end - size.warm > MOST_MB
    ]
    for name in grown:
        sys.stdout.write(f"{name} grew by more than {MOST_MB:g} MB\n")
    return 1 if grown else 0


if __name__ == "__main__":
    arguments = dict(enumerate(sys.argv[1:]))
    sys.exit(main(int(arguments.get(0, EDITS)), float(arguments.get(1, 240))))
