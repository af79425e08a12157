"""Commands do not import modules needed only by other commands or on failures."""

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


def test_commands_do_not_import_modules_they_do_not_need() -> None:
    result = subprocess.run([sys.executable, "-c", LOADED], capture_output=True, text=True, check=True)
    loaded = result.stdout.split()
    assert "scheduler_core.simulate" in loaded
    assert FOR_SOME.isdisjoint(loaded)
