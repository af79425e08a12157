"""The stored parts of a forecast's result: its record, decisions, waits by seed, and summary."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from planning.documents import encoded
from planning.forecasts.record import Record
from planning.forecasts.seeds import SeedRow
from planning.forecasts.storage import packed
from planning.rows.stored import Part

Json = Mapping[str, Any]

RECORD, LOG, SEEDS = "record", "log", "seeds"


def parts_of(result: Json, record: Record, drawn: Sequence[SeedRow] = ()) -> Iterator[Part]:
    """Yield the parts to store; `drawn` are the waits under drawn workloads."""
    content = packed(record)
    yield Part(RECORD, "", content, len(content))
    yield Part.of(LOG, result["log"])
    if drawn:
        yield Part.of(SEEDS, [asdict(row) for row in drawn])


def summary_of(result: Json, record: Record) -> dict[str, Any]:
    """Return the summary: counts, names of queues and resources, and the hash of the whole result."""
    jobs = [result["jobs"][name] for name in record.jobs.names]
    return {
        "sessions": result["sessions"],
        "end_seconds": result["end_seconds"],
        "jobs": len(jobs),
        "started": sum(job["started"] is not None for job in jobs),
        "finished": sum(job["finished"] is not None for job in jobs),
        "evictions": sum(job["evictions"] for job in jobs),
        "lost_seconds": float(sum(job["lost_seconds"] for job in jobs)),
        "queues": list(record.leaves),
        "resources": record.resources(),
        "result_sha256": hashlib.sha256(encoded(result)).hexdigest(),
    }
