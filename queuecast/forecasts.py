"""Local forecasts of scenarios in files."""

import argparse
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from time import monotonic
from typing import Any

import manifests
from manifests.stream import read_documents
from manifests.unpack import NoText, decoded, unpacked
from planning.forecasts.clock import DAY, duration, spelled
from planning.forecasts.costs import Prices
from planning.forecasts.document import Times, forecast_of
from planning.forecasts.estimate import Pace, estimated
from planning.forecasts.opening import fitting_of, times_of
from planning.forecasts.options import DEFAULTS, option_problems
from planning.forecasts.record import Record, record_of
from planning.forecasts.trace_texts import Read, read_workload
from planning.forecasts.workload import Fitting, drawn_from, fitted_to, leaf_queues
from planning.rows import Problem
from queuecast.backend import Json, Progress
from queuecast.plans import contents
from queuecast.problems import Refused, refusal
from scheduler_core.replay import Replay, replay_document

NOTED_SECONDS = 10.0
"""How long a forecast runs before a note says how much time is left."""
MOST_BYTES = 2 * 10**9
"""The size limit of a trace's text: Philly's is 7 million bytes, the largest public ones a billion."""


@dataclass(frozen=True)
class Workload:
    """A trace, and the options of forecasts under it, as in `planning.forecasts.options.DEFAULTS`.

    A `seed` above 0 has drawn the trace, and draws the run times of the scenario's jobs.
    """

    read: Read
    options: Mapping[str, Any]
    fitting: Fitting
    seed: int = 0

    @classmethod
    def of(cls, read: Read, options: Mapping[str, Any]) -> "Workload":
        """Return the workload of a trace under options, of which some may be absent."""
        whole = {**DEFAULTS, **options}
        return cls(read, whole, fitting_of(whole))

    @property
    def times(self) -> Times:
        """Return the clock of the forecasts."""
        return times_of(self.options)

    def forecast(self, scenario: Json, progress: Progress | None = None) -> Record:
        """Return the forecast of a scenario, or raise Refused with every problem."""
        try:
            document = manifests.resolve(scenario)
        except manifests.Unreadable as error:
            raise Refused(f"The scheduler configuration cannot be read: {error}") from None
        queues = leaf_queues(document)
        # Problems of the mapping of queues are those of the window of the trace.
        wrong = option_problems({**self.options, "rest": ""}, trace_queues=(), queues=queues)
        if wrong:
            raise refused(wrong)
        trace, problems = fitted_to(
            self.read.trace, queues, self.fitting, self.fitting.known_constraints(document)
        )
        begun, more = forecast_of(document, trace, self.times, self.options["changes"], seed=self.seed)
        if problems or more:
            raise refused([*problems, *more])

        sys.stderr.write(f"note: {estimated(begun.document).says}\n")
        result = replay_document(begun.document, watch=_Watch(self.times.horizon, progress))
        if "error" in result:
            raise Refused(f"The forecast cannot be computed: {result['error']}.")
        record = record_of(begun.document, result)
        return replace(record, notes=(*begun.notes, *record.notes))

    def drawn(self, seed: int) -> "Workload":
        """Return the forecast with a workload that a seed draws from the pattern of the trace."""
        made, fitting = drawn_from(self.read.trace, self.fitting, self.times.horizon, seed)
        return replace(self, read=replace(self.read, trace=made), fitting=fitting, seed=seed)


class _Watch:
    """Draws the progress of a replay on a terminal; elsewhere it notes the time left of a long one, once."""

    def __init__(self, horizon: float, progress: Progress | None) -> None:
        self.horizon = horizon
        self.progress = progress
        self.pace = Pace()
        self.began = monotonic()
        self.noted = False

    def __call__(self, replay: Replay) -> None:
        """Report the progress after a session."""
        now, done = monotonic(), replay.end / self.horizon
        left = self.pace.left(now, done)
        if self.progress is not None:
            finished = sum(job.finished is not None for job in replay.records.jobs.values())
            more = "" if left is None else f", {spelled(left)} left at the speed so far"
            self.progress(done, f"{finished:,} jobs finished{more}")
        elif left is not None and not self.noted and now - self.began >= NOTED_SECONDS:
            self.noted = True
            after = f"{done:.0%} after {spelled(now - self.began)}"
            sys.stderr.write(f"note: {after}, {spelled(left)} left at the speed so far.\n")


def read_trace(path: Path, format_name: str) -> Read:
    """Return the trace in a file, or raise Refused with every problem that it has."""
    read, problems = read_workload(text_of(path), format_name)
    if read is None:
        raise refused([replace(one, document=str(path)) for one in problems])
    return read


def refused(problems: Sequence[Problem]) -> Refused:
    """Return a refusal for problems of planning."""
    return refusal([asdict(one) for one in problems])


def seconds(text: str, what: str) -> float:
    """Return the seconds of 90, 10m, 1h30m or 2d, or raise Refused."""
    found = duration(text)
    if found is None:
        raise Refused(f"{what}: {text!r} is not a length of time; write 90, 10m, 1h30m or 2d.")
    return found


def pairs(words: Sequence[str], what: str) -> dict[str, str]:
    """Return the mapping of ``name=value`` words, or raise Refused."""
    found = {}
    for word in words:
        name, equals, value = word.rpartition("=")
        if not equals or not name or not value:
            raise Refused(f"{what}: {word!r} is not NAME=VALUE.")
        found[name] = value
    return found


def factors(words: Sequence[str]) -> dict[str, float]:
    """Return the factors of ``queue=factor`` words, or raise Refused."""
    found = {}
    for queue, text in pairs(words, "--rate-of").items():
        try:
            found[queue] = float(text)
        except ValueError:
            found[queue] = 0.0
        if not 0 < found[queue] < 1e6:
            raise Refused(f"--rate-of: {text!r} is not a factor above 0.")
    return found


def targets_of(args: argparse.Namespace) -> dict[str, float]:
    """Return the wait targets of the command line, in seconds."""
    return {queue: seconds(text, "--target") for queue, text in pairs(args.target, "--target").items()}


def require_prices(args: argparse.Namespace) -> None:
    """Raise Refused if a chargeback is requested without prices."""
    if args.chargeback and not args.prices:
        raise Refused("--chargeback requires --prices.")


def workload_options(args: argparse.Namespace) -> dict[str, Any]:
    """Return the options of the command line that concern workload and clock, as options of the API."""
    lengths = {
        "horizon": DAY, "period": 1.0, "start_delay": 0.0, "termination": None, "checkpoint": 0.0,
        "restore": 0.0,
    }  # fmt: skip
    options: dict[str, Any] = {}
    for name, default in lengths.items():
        text = getattr(args, name)
        options[f"{name}_seconds"] = default if text is None else seconds(text, f"--{name.replace('_', '-')}")
    options["window_begin_seconds"] = 0.0 if args.begin is None else seconds(args.begin, "--begin")
    same = ("evicted", "rest", "rate", "size", "run_time", "node_constraints", "running_jobs")
    return {
        **options,
        **{name: getattr(args, name) for name in same},
        "queues": pairs(args.map, "--map"),
        "rates": factors(args.rate_of),
        "changes": changes(args.changes_file),
    }


def changes(path: Path | None) -> list[Any]:
    """Return the timed changes of a file."""
    value = _value(path, "changes") if path else []
    if not isinstance(value, list):
        raise Refused(f"{path} is not a list of changes; begin each with a dash.")
    return value


def prices(path: Path | None) -> Prices | None:
    """Return the prices of a file, or raise Refused with every problem."""
    if path is None:
        return None
    value = _value(path, "prices")
    problems = [] if isinstance(value, Mapping) else ["the file is not a mapping; write pools and resources"]
    found: dict[str, dict[str, float]] = {}
    for part in ("pools", "resources") if isinstance(value, Mapping) else ():
        listed = value.get(part) or {}
        for name, price in listed.items() if isinstance(listed, Mapping) else [("", None)]:
            if isinstance(price, bool) or not isinstance(price, int | float) or price < 0:
                problems.append(f"{part}.{name}: {price!r} is not a price per hour of at least 0")
            else:
                found.setdefault(part, {})[str(name)] = float(price)
    if isinstance(value, Mapping):
        known = ("pools", "resources", "currency")
        problems += [
            f"{key} is not a key here; write {', '.join(known)}" for key in value if key not in known
        ]
    if problems:
        raise Refused("\n".join(f"{path}: error: {one}." for one in problems))
    return Prices(found.get("pools", {}), found.get("resources", {}), str(value.get("currency") or "USD"))


def _value(path: Path, what: str) -> Any:
    documents = [one for one in read_documents(text_of(path)) if one.value is not None or one.faults]
    faults = [fault.message for one in documents for fault in one.faults]
    if faults or len(documents) != 1:
        raise Refused(f"{path}: {'; '.join(faults) or f'write one document of {what}'}.")
    return documents[0].value


def text_of(path: Path) -> str:
    """Return the text of a file, plain or gzip, or raise Refused."""
    ((label, content),) = contents([path])
    try:
        return decoded(unpacked(content, limit=MOST_BYTES))
    except NoText as error:
        raise Refused(f"{label}: {error}") from None
