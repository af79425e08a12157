"""Commands import nothing that only another command or a failure needs."""

from __future__ import annotations

import subprocess
import sys

LOADED = """
import sys
import numpy
before = set(sys.modules)
import scheduler_core.__main__
print(*sorted(set(sys.modules) - before))
"""
FOR_SOME = {
    "gzip",
    "hashlib",
    "pathlib",
    "scheduler_core.actions.gangpreempt",
    "scheduler_core.explain",
    "scheduler_core.parity",
    "scheduler_core.plugins.drf",
    "scheduler_core.replay",
    "traceback",
}


def test_no_command_waits_for_what_only_another_one_or_a_failure_needs() -> None:
    told = subprocess.run([sys.executable, "-c", LOADED], capture_output=True, text=True, check=True)
    loaded = told.stdout.split()
    assert "scheduler_core.simulate" in loaded
    assert FOR_SOME.isdisjoint(loaded)
