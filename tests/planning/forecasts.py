"""Generated replays with their results, for tests of forecasts."""

from __future__ import annotations

from functools import cache
from typing import Any

from planning.forecasts.record import Record, record_of
from scheduler_core.replay import replay_document
from tests.builders import Object
from tests.scheduler_core.replays import job_replay, small_replay


@cache
def forecast(seed: int, *, jobs: int = 18, of_vcjobs: bool = False) -> tuple[Object, Object, Record]:
    """Return a generated replay, its result up to the horizon, and the record of it."""
    document: Any = job_replay(seed) if of_vcjobs else small_replay(seed, jobs=jobs)
    result = replay_document(document)
    record = record_of(document, result)
    return document, {**result, "end_seconds": record.end}, record
