"""Traces as they are stored: from a file or a text, from the jobs of a snapshot, or drawn from patterns."""

import gzip
import json
import zlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from io import BytesIO
from typing import Any

from planning.forecasts.backtest import real_work
from planning.forecasts.clock import instant
from planning.forecasts.preview import plain, preview
from planning.forecasts.trace_texts import csv_of, generated_text, read_workload
from planning.forecasts.workload import own_trace
from planning.rows import Problem
from planning.rows.problems import Unusable

Json = Mapping[str, Any]

MOST_BYTES = 50_000_000
"""The size limit of the text of a trace; 82,000 jobs of the Philly trace are 5 MB."""
MOST_FACTS_BYTES = 5_000_000
"""The size limit of the facts of a trace, as JSON: 10,000 queues make some 4 MB."""
OWN = "queuecast"
_GZIP = b"\x1f\x8b"


@dataclass(frozen=True)
class Facts:
    """What is stored beside the text of a trace, as JSON values.

    Attributes
    ----------
    format : str
        One of `traces.FORMATS`.
    begin : str
        The RFC 3339 time of its beginning; empty when it has relative times only.
    span_seconds : float
        From its beginning to the last submission.
    jobs, pods : int
    queues : mapping
        Jobs by queue, largest first.
    notes : list of str
        What was assumed or left out.
    preview : mapping
        As `planning.forecasts.preview.plain` returns it.

    """

    format: str
    begin: str
    span_seconds: float
    jobs: int
    pods: int
    queues: Mapping[str, int]
    notes: list[str]
    preview: Json


def from_text(content: bytes, options: Json) -> tuple[bytes, Json]:
    """Return the text of a file or a form, plain or gzip, and the facts of its trace.

    `format` in the options is what its sender calls it, empty: what the text looks like. This and the other
    functions raise Unusable with every problem.
    """
    if content.startswith(_GZIP):
        content = _unpacked(content)
    if len(content) > MOST_BYTES:
        message = f"The trace is larger than {MOST_BYTES / 1e6:,.0f} MB."
        raise _unfit("trace.too_large", message, "file", "Cut it to the days that you need.")
    try:
        return _with_facts(content.decode("utf-8-sig"), options["format"])
    except UnicodeDecodeError as error:
        message = f"The file is not UTF-8 text: byte {error.start} cannot be read."
        raise _unfit("trace.not_text", message, "file", "Save it as UTF-8.") from None


def _unpacked(content: bytes) -> bytes:
    try:
        with gzip.open(BytesIO(content)) as unpacked:
            return unpacked.read(MOST_BYTES + 1)
    except (OSError, EOFError, zlib.error):
        message = "The file is damaged: it cannot be unpacked."
        raise _unfit("trace.gzip", message, "file", "Send it again.") from None


def from_snapshot(content: bytes, options: Json) -> tuple[bytes, Json]:
    """Return the jobs of a snapshot as our own CSV, and their facts.

    These are the finished ones, or with `since` in the options, an RFC 3339 time, all that were submitted
    since: the workload of a backtest, the real arrivals after an earlier snapshot. `name` is for messages.
    """
    since, document = options["since"], json.loads(content)
    if since and instant(since) is None:
        fix = "Write it as 2026-01-31T12:00:00Z."
        raise _unfit("trace.since", f"{since!r} is not a time.", "since", fix)
    jobs = real_work(document, since) if since else own_trace(document)
    if not jobs.jobs:
        which = f"came since {since}" if since else "has finished"
        message = f"Snapshot {options['name']} has no job that {which}."
        fix = "Choose a snapshot that was taken while finished jobs still existed."
        raise _unfit("trace.empty", message, "snapshot", fix)
    return _with_facts(csv_of(jobs), OWN)


def from_patterns(content: bytes, _options: Json) -> tuple[bytes, Json]:
    """Return jobs drawn from patterns as our own CSV, and their facts.

    The content is JSON with the arguments of `planning.forecasts.trace_texts.generated_text`.
    """
    text, problems = generated_text(**json.loads(content))
    if problems:
        raise Unusable(problems)
    return _with_facts(text, OWN)


def _with_facts(text: str, format_name: str) -> tuple[bytes, Json]:
    """Return a text in UTF-8 with the facts of its trace."""
    read, problems = read_workload(text, format_name)
    if read is None:
        raise Unusable(problems)
    trace = read.trace
    facts = asdict(
        Facts(
            format=read.format,
            begin=trace.begin,
            span_seconds=trace.span,
            jobs=len(trace.jobs),
            pods=sum(job.pods for job in trace.jobs),
            queues=trace.queues(),
            notes=list(trace.notes),
            preview=plain(preview(trace)),
        )
    )
    if (size := len(json.dumps(facts))) > MOST_FACTS_BYTES:
        message = (
            f"The figures of {len(trace.queues()):,} queues and of the devices of their jobs are"
            f" {size / 1e6:,.1f} MB; at most {MOST_FACTS_BYTES / 1e6:,.0f} MB are kept."
        )
        fix = "Name fewer queues, such as teams instead of users."
        raise _unfit("trace.too_many_queues", message, "queue", fix)
    return text.encode(), facts


def _unfit(rule: str, message: str, path: str, fix: str) -> Unusable:
    return Unusable([Problem(rule, "error", message, path=path, fix=fix)])
