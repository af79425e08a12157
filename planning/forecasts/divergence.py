"""Where a forecast and reality diverge, by queue, and possible causes shown by the two snapshots.

A cause is named only with evidence: a difference between both sides from before the first job of the queue
diverged, or an unmodelled feature that the diverging jobs use. Evidence is not proof; a queue without any
says so.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isnan
from typing import Any

from planning.documents import items
from planning.forecasts.clock import spelled
from planning.forecasts.record import Record
from planning.nodes import pool_name
from scheduler_core.model.unmodelled import POD_PARTS, PODGROUP_PARTS
from traces.text import counted

Json = Mapping[str, Any]

OFF = 60.0
"""The tolerance of starts, run times and submissions, in seconds."""
MOST_NAMED = 10
CAUSES = (
    "run_time", "missing", "extra", "submitted", "queue", "nodes", "queue_spec", "configuration",
    "not_modelled", "other_queue", "unknown",
)  # fmt: skip
"""The kinds of causes."""
MEANINGS = {name: says for name, (_, says) in (*POD_PARTS.items(), *PODGROUP_PARTS.items())}


@dataclass(frozen=True)
class RealJob:
    """The life of a job, in seconds from the beginning of the forecast; None: nothing yet.

    Attributes
    ----------
    queue : str
    submitted : float
    started, finished : float or None
    uses : tuple of str
        The unmodelled features that it uses: keys of `MEANINGS`.

    """

    queue: str
    submitted: float
    started: float | None
    finished: float | None = None
    uses: tuple[str, ...] = ()


@dataclass(frozen=True)
class Cause:
    """A possible cause for a queue's jobs to start at other times than predicted.

    Attributes
    ----------
    kind : str
        One of `CAUSES`; `unknown` where the snapshots show nothing.
    says : str
    count : int
        How many jobs show it.
    jobs : tuple of str
        The first of them.

    """

    kind: str
    says: str
    count: int = 0
    jobs: tuple[str, ...] = ()


@dataclass(frozen=True)
class QueueParting:
    """Where the jobs of a queue diverge.

    Attributes
    ----------
    queue : str
    off : int
        Jobs that start more than a minute from the predicted time, or in only one of both.
    job : str
        The first of them, by the earlier of its two starts.
    predicted, real : float or None
        Its starts, in seconds; None: not before the end of the known time.
    causes : tuple of Cause

    """

    queue: str
    off: int
    job: str
    predicted: float | None
    real: float | None
    causes: tuple[Cause, ...]

    @property
    def at(self) -> float:
        """Return the earlier of the two starts, in seconds."""
        return min(time for time in (self.predicted, self.real) if time is not None)


Runs = tuple[float, float, str]
"""The assumed and the real run time in seconds, and the words "at least " if the job still runs."""
Starts = Mapping[str, tuple[float | None, float | None]]
"""By job, the predicted and the real start in seconds; None: not before the end of the known time."""


def queue_partings(
    predicted: Record,
    real: Mapping[str, RealJob],
    starts: Starts,
    end: float,
    later: Json | None = None,
    scenario: Json | None = None,
) -> tuple[QueueParting, ...]:
    """Return where each queue diverges and the possible causes, the first divergence first.

    Parameters
    ----------
    predicted : Record
        The forecast.
    real : mapping
        The real jobs, by the name that the forecast gives them.
    starts : mapping
        The starts of the compared jobs.
    end : float
        Until when it is known what happened, in seconds.
    later, scenario : mapping, optional
        The later snapshot, and the scenario that was forecast; without them nodes, queues and configuration
        are not compared.

    """
    off: dict[str, list[str]] = {}
    for name, (message, happened) in starts.items():
        if message is None or happened is None or abs(message - happened) > OFF:
            off.setdefault(real[name].queue, []).append(name)
    firsts = {
        queue: min(names, key=lambda name: (_first(starts[name]), name)) for queue, names in off.items()
    }
    found: list[QueueParting] = []
    for queue, first in sorted(firsts.items(), key=lambda entry: (_first(starts[entry[1]]), entry[0])):
        at = _first(starts[first])
        causes = [
            *_jobs_differ(predicted, real, at, end),
            *_cluster_differs(predicted, queue, end, later, scenario),
            *_not_modelled([(name, real[name]) for name in off[queue]]),
        ]
        if found and found[0].at < at:
            before = found[0]
            earlier = f"Queue {before.queue} had diverged {spelled(at - before.at)} earlier."
            causes.append(Cause("other_queue", earlier))
        if not causes:
            causes.append(Cause("unknown", "The two snapshots show no cause."))
        message, happened = starts[first]
        found.append(QueueParting(queue, len(off[queue]), first, message, happened, tuple(causes)))
    return tuple(found)


def _first(starts: tuple[float | None, float | None]) -> float:
    return min(time for time in starts if time is not None)


def _jobs_differ(predicted: Record, real: Mapping[str, RealJob], at: float, end: float) -> Iterator[Cause]:
    """Yield how the jobs present at a time differ: run times, arrivals, queues."""
    jobs = predicted.jobs
    rows = {name: row for row, name in enumerate(jobs.names) if jobs.submitted[row] <= at or name in real}
    runs: dict[str, Runs] = {}
    moved: dict[str, float] = {}
    elsewhere = []
    for name in sorted(set(rows) & set(real)):
        row, happened = rows[name], real[name]
        if happened.started is not None and happened.started < at:
            run = _runs(float(jobs.started[row]), float(jobs.finished[row]), happened, end)
            if run is not None:
                runs[name] = run
        if min(happened.submitted, float(jobs.submitted[row])) <= at:
            late = happened.submitted - float(jobs.submitted[row])
            if abs(late) > OFF:
                moved[name] = late
            if happened.queue != jobs.queues[row]:
                elsewhere.append(name)
    if runs:
        worst = max(runs, key=lambda name: (abs(runs[name][1] - runs[name][0]), name))
        assumed, took, least = runs[worst]
        longer = sum(took > assumed for assumed, took, _ in runs.values())
        message = (
            f"{counted(len(runs), 'job')} that had started before ran longer or shorter than assumed,"
            f" {longer:,} of them longer;"
            f" the most {worst}: {least}{spelled(took)} instead of {spelled(assumed)}."
        )
        yield _cause("run_time", message, runs)
    missing = [name for name, job in real.items() if name not in rows and 0 <= job.submitted <= at]
    if missing:
        message = f"{counted(len(missing), 'job')} arrived that the forecast does not have."
        yield _cause("missing", message, missing)
    extra = [name for name in rows if name not in real and jobs.submitted[rows[name]] >= 0]
    if extra:
        message = (
            f"{counted(len(extra), 'job')} of the forecast did not arrive,"
            " or had been deleted by the later snapshot."
        )
        yield _cause("extra", message, extra)
    if moved:
        worst = max(moved, key=lambda name: (abs(moved[name]), name))
        word = "later" if moved[worst] > 0 else "earlier"
        message = (
            f"{counted(len(moved), 'job')} arrived at another time than in the forecast; the most {worst}:"
            f" {spelled(abs(moved[worst]))} {word}."
        )
        yield _cause("submitted", message, moved)
    if elsewhere:
        message = f"{counted(len(elsewhere), 'job')} had another queue in the forecast."
        yield _cause("queue", message, elsewhere)


def _runs(started: float, finished: float, happened: RealJob, end: float) -> Runs | None:
    """Return the run times of a job where they differ."""
    if isnan(started) or isnan(finished) or happened.started is None:
        return None
    assumed = finished - started
    if happened.finished is not None:
        took, least = happened.finished - happened.started, ""
    else:
        took, least = end - happened.started, "at least "
    is_other = took - assumed > OFF if least else abs(took - assumed) > OFF
    return (assumed, took, least) if is_other else None


def _cluster_differs(
    predicted: Record, queue: str, end: float, later: Json | None, scenario: Json | None
) -> Iterator[Cause]:
    """Yield how nodes, the queue and the configuration of the later snapshot differ from the forecast's."""
    if later is None:
        return
    there = Counter(pool_name(node) for node in items(later.get("nodes")))
    expected = {pool.name: int(pool.nodes.at(end)) for pool in predicted.pools}
    differing = sorted(name for name in {*there, *expected} if there[name] != expected.get(name, 0))
    if differing:
        shown = "; ".join(
            f"{name}: {there[name]} instead of {expected.get(name, 0)}" for name in differing[:3]
        )
        message = f"The nodes differ from the forecast's ({shown}): autoscalers and repairs are not modelled."
        yield Cause("nodes", message)
    if scenario is None:
        return
    before, after = (_spec(document, queue) for document in (scenario, later))
    fields = sorted(name for name in {*before, *after} if before.get(name) != after.get(name))
    if before and after and fields:
        yield Cause("queue_spec", f"Fields of the queue differ from the forecast: {', '.join(fields)}.")
    confs = [document.get("scheduler_conf") for document in (scenario, later)]
    if all(confs) and type(confs[0]) is type(confs[1]) and confs[0] != confs[1]:
        yield Cause("configuration", "The scheduler configuration differs from the forecast's.")


def _spec(document: Json, queue: str) -> Json:
    for entry in items(document.get("queues")):
        if entry["metadata"]["name"] == queue:
            found: Json = entry.get("spec") or {}
            return found
    return {}


def _not_modelled(jobs: Iterable[tuple[str, RealJob]]) -> Iterator[Cause]:
    using: dict[str, list[str]] = {}
    for name, job in jobs:
        for part in job.uses:
            using.setdefault(part, []).append(name)
    for part, names in sorted(using.items()):
        verb = "uses" if len(names) == 1 else "use"
        message = f"{counted(len(names), 'job')} that diverged {verb} {part}. {MEANINGS[part]}"
        yield _cause("not_modelled", message, names)


def uses_of(podgroup: Json, pods: Sequence[Json]) -> tuple[str, ...]:
    """Return the unmodelled features that a PodGroup and its pods use."""
    found = [name for name, (uses, _) in POD_PARTS.items() if any(map(uses, pods))]
    return (*found, *(name for name, (uses, _) in PODGROUP_PARTS.items() if uses(podgroup)))


def _cause(kind: str, message: str, names: Iterable[str]) -> Cause:
    ordered = sorted(names)
    return Cause(kind, message, len(ordered), tuple(ordered[:MOST_NAMED]))
