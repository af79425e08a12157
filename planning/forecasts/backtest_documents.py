"""The backtest of a stored forecast against the document of a later snapshot."""

from base64 import b64decode
from collections.abc import Mapping
from json import loads
from typing import Any

from planning.forecasts.backtest import backtest, plain, real_jobs
from planning.forecasts.clock import instant
from planning.forecasts.storage import unpacked
from planning.rows import Problem
from planning.rows.problems import Unusable

Json = Mapping[str, Any]


def backtest_of(content: bytes, _options: Json) -> tuple[bytes, Json]:
    """Return a backtest as plain data, with `until_seconds`: how much later the snapshot is.

    The content is JSON: `record`, the packed record of the forecast in base 64, `later`, the document of the
    snapshot, and `scenario`, that of the forecast. Raises Unusable if one of the two has no time, or if the
    snapshot is not later.
    """
    given = loads(content)
    record, later = unpacked(b64decode(given["record"])), given["later"]
    until = _seconds_between(record.begin, str(later.get("now") or ""))
    found = backtest(record, real_jobs(later, record.begin), until, later, given["scenario"])
    return b"", {"until_seconds": until, "result": plain(found)}


def _seconds_between(begin: str, later: str) -> float:
    """Return how much later a snapshot is than the beginning of a forecast."""
    first, last = instant(begin), instant(later)
    if first is None or last is None:
        which = "forecast" if first is None else "snapshot"
        raise _unusable(f"The {which} does not say its time.", "Import a cluster with the key now.")
    seconds = (last - first).total_seconds()
    if seconds <= 0:
        raise _unusable(
            "The snapshot is not later than the beginning of the forecast.", "Choose a later one."
        )
    return seconds


def _unusable(message: str, fix: str) -> Unusable:
    return Unusable([Problem("backtest.time", "error", message, path="snapshot", fix=fix)])
