"""The effects of a fault on the runs submitted around it."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from tests.processes.topology import Topology


@dataclass(frozen=True)
class Row:
    """The effect of one fault on the submitted runs."""

    fault: str
    submitted: int
    lost: int
    doubled: int
    wrong: int
    seconds: float
    remark: str = ""

    @property
    def is_harmless(self) -> bool:
        """Return whether no run was lost, duplicated or wrong."""
        return (self.lost, self.doubled, self.wrong) == (0, 0, 0)

    def __str__(self) -> str:
        return (
            f"| {self.fault} | {self.submitted} | {self.lost} | {self.doubled} | {self.wrong} "
            f"| {self.seconds:.0f} s | {self.remark} |"
        )


SECONDS = 2.0
"""The computing time of a run that is to be interrupted."""

HEAD = "| fault | runs submitted | lost | doubled | wrong | took | remark |\n|---|---|---|---|---|---|---|"


class Attempt:
    """One topology, and the runs submitted to it."""

    def __init__(self, running: Topology) -> None:
        self.running = running
        self.installation = running.installation
        self.began = time.monotonic()

    def submit(self, count: int) -> list[str]:
        """Submit short runs."""
        runs: list[str] = self.installation.drive("submit_distinct", str(count), "1")
        return runs

    def submit_long(self, count: int, seconds: float = SECONDS) -> list[str]:
        """Submit runs that compute for a few seconds on any machine; return once one is computing."""
        runs: list[str] = self.installation.drive("submit_and_await_progress", str(count), str(seconds))
        return runs

    def row(self, fault: str, runs: list[str], remark: str = "") -> Row:
        """Wait until the runs are over, and return their row."""
        output: dict[str, Any] = self.installation.drive("count_failures", *runs)
        assert output["unaccounted"] == 0, "a run was tried more or less often than its losses and kills say"
        seconds = time.monotonic() - self.began
        remark = remark or f"{output['losses']} attempts lost, {output['kills']} simulations tried once more"
        remark = "; ".join([remark, *output["errors"]])
        return Row(fault, len(runs), output["lost"], output["doubled"], output["wrong"], seconds, remark)


@contextmanager
def attempt(running: Topology) -> Iterator[Attempt]:
    """Run an attempt on a topology, and end all workers afterwards."""
    try:
        yield Attempt(running)
    finally:
        running.installation.close()
