"""How does a command end when nobody reads on, as behind ``| head``?"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable

NOBODY_READS = 141
"""The exit status that a shell reports of a program that SIGPIPE ended."""


def until_closed(command: Callable[[], int]) -> int:
    """Run a command and return its exit status; end quietly once the reader of its output has gone."""
    try:
        status = command()
        sys.stdout.flush()
    except BrokenPipeError:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        return NOBODY_READS
    return status
