"""Comparison of the reference engine with recordings of the real scheduler, and with the core."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from scheduler_core import Options, simulate_document
from tests.reference.comparison import decided, difference, outcome
from tests.reference.configuration import Refused
from tests.reference.resources import Panic, UnreadableError
from tests.shared import SHARED

Entry = Mapping[str, Any]

STOPS = (Panic, Refused, UnreadableError)
CASES = Path(__file__).parents[1] / "fidelity" / "cases"


def recordings() -> dict[str, Path]:
    """Return the files of small recordings by family."""
    files = {path.name: path for path in SHARED.glob("golden/*.jsonl.gz")}
    files |= {path.name: path for path in CASES.glob("*.jsonl.gz") if not path.name.startswith("big")}
    return {name.partition(".")[0]: files[name] for name in sorted(files)}


def answered(document: Mapping[str, Any]) -> Entry:
    """Return a scenario with the core's result, in the form of a recording."""
    return {"scenario": document, "result": simulate_document(document, Options(explain=False))}


def agrees(entry: Entry) -> str | None:
    """Return the first difference from a result, recorded or the core's; both or none must be an error."""
    error = entry["result"].get("error")
    try:
        ours = decided(entry["scenario"])
    except STOPS as found:
        return None if error else f"the reference stops: {found}"
    return f"the result says: {error}" if error else difference(ours, outcome(entry["result"]))
