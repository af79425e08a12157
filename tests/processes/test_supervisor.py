"""Start, restart and end of processes under the supervisor, with real processes."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from planner.management.supervisor import ESCALATION

SLEEPER = "import os, time; print('pid', os.getpid(), flush=True); time.sleep(600)"
LISTENER = (
    "import signal; signal.signal(signal.SIGTERM, lambda *signalled: print('asked to stop', flush=True)); "
)
STUBBORN = "import signal; [signal.signal(s, signal.SIG_IGN) for s in (signal.SIGTERM, signal.SIGQUIT)]; "

SUPERVISE = """
import sys
from planner.management.supervisor import Program, Supervisor
programs = [Program(f"p{number}", [sys.executable, "-c", code]) for number, code in enumerate(sys.argv[1:])]
Supervisor(
    programs,
    on_death=lambda program, pid: print("died", program.name, pid, flush=True),
    say=lambda line: print(line, flush=True),
).run()
print("over", flush=True)
"""

PATIENCE = 60.0
"""How many seconds to wait for a line."""

Start = Callable[..., "Supervised"]


class Supervised:
    """A supervisor in its own process."""

    def __init__(self, *codes: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", SUPERVISE, *codes],
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        self.lines: list[str] = []

    def wait_for(self, word: str) -> str:
        """Return the next line that contains `word`."""
        assert self.process.stdout is not None
        late = threading.Timer(PATIENCE, self.process.kill)
        late.start()
        try:
            for line in self.process.stdout:
                self.lines.append(line)
                if word in line:
                    return line
        finally:
            late.cancel()
        raise AssertionError(f"{word!r} was never printed: {self.lines}")

    def pid(self) -> int:
        return int(self.wait_for("pid ").rsplit(maxsplit=1)[-1])


@pytest.fixture
def start() -> Iterator[Start]:
    started: list[Supervised] = []

    def start(*codes: str) -> Supervised:
        started.append(Supervised(*codes))
        return started[-1]

    yield start
    for supervised in started:
        supervised.process.kill()
        supervised.process.communicate()


def is_alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def wait_until_dead(pid: int) -> None:
    until = time.monotonic() + PATIENCE
    while is_alive(pid):
        assert time.monotonic() < until, f"process {pid} still lives"
        time.sleep(0.02)


@pytest.mark.parametrize("wish", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP], ids=lambda wish: wish.name)
def test_first_signal_stops_every_process_and_the_supervisor(start: Start, wish: signal.Signals) -> None:
    supervised = start(SLEEPER, SLEEPER)
    pids = [supervised.pid(), supervised.pid()]
    supervised.process.send_signal(wish)
    supervised.wait_for("over")
    assert supervised.process.wait(PATIENCE) == 0
    assert not any(is_alive(pid) for pid in pids)


def test_second_signal_kills_immediately(start: Start) -> None:
    supervised = start(LISTENER + SLEEPER)
    pid = supervised.pid()
    supervised.process.send_signal(signal.SIGINT)
    requested_at = time.monotonic()
    supervised.wait_for("asked to stop")
    assert is_alive(pid)
    supervised.process.send_signal(signal.SIGINT)
    supervised.wait_for("over")
    assert time.monotonic() - requested_at < ESCALATION[1][0], (
        "the second signal ended it before the escalation"
    )
    assert not is_alive(pid)


def test_process_that_ignores_signals_is_finally_killed(start: Start) -> None:
    supervised = start(STUBBORN + SLEEPER)
    pid = supervised.pid()
    supervised.process.send_signal(signal.SIGTERM)
    supervised.wait_for("over")
    assert not is_alive(pid)


def test_killed_process_is_restarted_and_reported(start: Start) -> None:
    supervised = start(SLEEPER)
    first = supervised.pid()
    os.kill(first, signal.SIGKILL)
    supervised.wait_for(f"died p0 {first}")
    second = supervised.pid()
    assert second != first
    assert is_alive(second)


def test_restart_backoff_doubles_for_a_crashing_process(start: Start) -> None:
    supervised = start("raise SystemExit(3)")
    pauses = [supervised.wait_for("restarting in").rsplit(maxsplit=2)[-2] for _ in range(3)]
    assert pauses == ["0.5", "1", "2"]


def test_processes_of_a_killed_supervisor_end(start: Start) -> None:
    supervised = start(SLEEPER)
    pid = supervised.pid()
    supervised.process.kill()
    wait_until_dead(pid)


def test_every_output_line_is_prefixed_with_the_process_name(start: Start) -> None:
    supervised = start("print('hello'); " + SLEEPER)
    assert supervised.wait_for("hello") == "p0 | hello\n"
