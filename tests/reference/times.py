"""Parsing of durations and moments: ``spec/node_plugins.md`` 0.2."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any

NEVER = -62135596800.0  # the year 1, which a missing moment is
UNITS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "μs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}
PIECE = re.compile(r"(\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h)")
WHOLE = re.compile(rf"([+-]?)((?:{PIECE.pattern})+)")


def duration(text: Any) -> float | None:
    """Return a duration in seconds, None if it is not valid."""
    if text == "0":
        return 0.0
    found = WHOLE.fullmatch(text) if isinstance(text, str) else None
    if found is None:
        return None
    time = sum(float(number) * UNITS[unit] for number, unit in PIECE.findall(found[2]))
    return -time if found[1] == "-" else time


def seconds(text: Any) -> float:
    """Return a moment in whole seconds."""
    return float(int(datetime.fromisoformat(str(text)).timestamp() // 1)) if text else NEVER


def moment(time: float) -> str:
    """Return the text of a moment."""
    return datetime.fromtimestamp(time, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
