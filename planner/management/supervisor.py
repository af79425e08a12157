"""A supervisor of several processes that run and stop together.

One thread, one loop: it passes on what the processes print, starts again what died, and ends all of them in
order. Every process has a session of its own, so that Ctrl-C reaches only the supervisor.
"""

import ctypes
import os
import selectors
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from typing import IO, Any

ESCALATION = ((0.0, signal.SIGTERM), (5.0, signal.SIGQUIT), (8.0, signal.SIGKILL))
"""The signals after a request to stop, with their delays in seconds."""
SHORTEST_PAUSE, LONGEST_PAUSE = 0.5, 30.0
"""Seconds until a program that died is started again; the pause doubles while it keeps dying young."""
LOOK_SECONDS = 0.1
"""How often to see whether something died."""

_PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None)


@dataclass(frozen=True)
class Program:
    """A command to keep alive under a short name."""

    name: str
    command: Sequence[str]
    environment: Mapping[str, str] = field(default_factory=dict)
    files: Sequence[int] = ()
    """Open files that the process inherits."""


class Supervisor:
    """Keeps programs alive until Ctrl-C, SIGTERM or a closed terminal; the second time it kills at once."""

    def __init__(
        self,
        programs: Sequence[Program],
        *,
        on_death: Callable[[Program, int], None],
        say: Callable[[str], None],
    ) -> None:
        """Take the programs; `on_death` hears of each process id that ended, `say` takes a line to print."""
        self._on_death = on_death
        self._selector = selectors.DefaultSelector()
        width = max(len(program.name) for program in programs)
        self._keepers = [
            _Keeper(program, partial(_say_who, say, f"{program.name:<{width}}")) for program in programs
        ]
        self._stop_requested_at: float | None = None
        self._escalation = list(ESCALATION)

    def run(self, *, on_tick: Callable[[], None] = lambda: None) -> None:
        """Start everything and return when everything has ended; `on_tick` is called all the time."""
        with _handling(self._ask_to_stop):
            try:
                while self._stop_requested_at is None or any(keeper.is_alive for keeper in self._keepers):
                    self._tend()
                    on_tick()
            finally:
                self._signal(signal.SIGKILL)

    def _tend(self) -> None:
        for keeper in self._keepers:
            if self._stop_requested_at is None and keeper.is_due:
                keeper.start(self._selector)
        for key, _ in self._selector.select(LOOK_SECONDS):
            key.data.listen(self._selector)
        for keeper in self._keepers:
            if keeper.has_died:
                ended = keeper.bury(self._selector, again=self._stop_requested_at is None)
                self._on_death(keeper.program, ended)
        if self._stop_requested_at is not None:
            self._escalate(time.monotonic() - self._stop_requested_at)

    def _ask_to_stop(self, number: int, frame: Any) -> None:
        if self._stop_requested_at is None:
            self._stop_requested_at = time.monotonic()
        else:
            self._signal(signal.SIGKILL)

    def _escalate(self, waited: float) -> None:
        while self._escalation and waited >= self._escalation[0][0]:
            self._signal(self._escalation.pop(0)[1])

    def _signal(self, number: signal.Signals) -> None:
        for keeper in self._keepers:
            keeper.signal(number)


class _Keeper:
    """One program with its present process, if it has one."""

    def __init__(self, program: Program, say: Callable[[str], None]) -> None:
        self.program = program
        self._say = say
        self._process: subprocess.Popen[bytes] | None = None
        self._unfinished = b""
        self._started = self._start_at = 0.0
        self._pause = SHORTEST_PAUSE

    @property
    def is_alive(self) -> bool:
        return self._process is not None

    @property
    def is_due(self) -> bool:
        return self._process is None and time.monotonic() >= self._start_at

    @property
    def has_died(self) -> bool:
        return self._process is not None and self._process.poll() is not None

    def start(self, selector: selectors.BaseSelector) -> None:
        self._started = time.monotonic()
        self._process = subprocess.Popen(
            self.program.command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            pass_fds=self.program.files,
            preexec_fn=_end_with_the_supervisor,
            env={**os.environ, **self.program.environment},
        )
        selector.register(self._pipe, selectors.EVENT_READ, self)

    def listen(self, selector: selectors.BaseSelector) -> None:
        output = os.read(self._pipe.fileno(), 65536)
        if not output:
            selector.unregister(self._pipe)
        *lines, self._unfinished = (self._unfinished + output).split(b"\n")
        for line in lines:
            self._say(line.decode(errors="replace"))

    def bury(self, selector: selectors.BaseSelector, *, again: bool) -> int:
        """Clear up after the dead process and plan its successor; return its id."""
        process = self._process
        assert process is not None, "only the dead are buried"
        with suppress(KeyError):
            selector.unregister(self._pipe)
        self._pipe.close()
        self.signal(signal.SIGKILL)  # what it may have left in its group
        self._process = None
        if again:
            self._plan_again(process.returncode)
        return process.pid

    def signal(self, number: signal.Signals) -> None:
        """Signal the process; a kill goes to its whole group."""
        if self._process is None:
            return
        with suppress(ProcessLookupError):
            if number == signal.SIGKILL:
                os.killpg(self._process.pid, number)
            elif self._process.returncode is None:
                os.kill(self._process.pid, number)

    @property
    def _pipe(self) -> IO[bytes]:
        assert self._process is not None, "it was started"
        assert self._process.stdout is not None, "it was started with a pipe"
        return self._process.stdout

    def _plan_again(self, status: int) -> None:
        now = time.monotonic()
        if now - self._started > LONGEST_PAUSE:
            self._pause = SHORTEST_PAUSE
        self._start_at = now + self._pause
        self._say(f"exited with status {status}; restarting in {self._pause:g} s")
        self._pause = min(self._pause * 2, LONGEST_PAUSE)


def _say_who(say: Callable[[str], None], who: str, line: str) -> None:
    say(f"{who} | {line}")


@contextmanager
def _handling(handler: Callable[[int, Any], None]) -> Iterator[None]:
    """Send the wishes to stop to `handler`."""
    wishes = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = {number: signal.signal(number, handler) for number in wishes}
    try:
        yield
    finally:
        for number, former in before.items():
            signal.signal(number, former)


def _end_with_the_supervisor() -> None:
    """Ask the system to end this process when the supervisor is killed and cannot do it."""
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
