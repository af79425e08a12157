"""The workload of a forecast: a trace fitted to the queues of a scenario."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from planning.constraint_choices import LIKE_QUEUE
from planning.documents import items
from planning.forecasts.node_constraints import with_constraints, without_constraints
from planning.node_constraints import NOTHING_KNOWN, KnownConstraints, examples_of, with_rooms
from planning.rows import Problem
from traces import Trace, cut, fitted, generate, mapped, scaled
from traces.kubernetes import trace_of_objects
from traces.reshape import joined, running_at
from traces.text import counted

Json = Mapping[str, Any]


@dataclass(frozen=True)
class Fitting:
    """How a trace is fitted to a scenario.

    Attributes
    ----------
    queues : mapping
        The scenario's queue for each queue of the trace; one that is not named goes to the queue of its
        own name.
    rest : str
        The queue for all other jobs; empty: other jobs are an error.
    begin, end : float
        The window of the trace, in seconds from its beginning; an end of None is that of the trace.
    rate, size, run_time : float
        Factors for the number of jobs, the pods of each, and the run times.
    rates : mapping
        Further factors for the number of jobs, by queue of the trace.
    running : bool
        Whether jobs of the trace that run when its window begins run on, for what remains of their run time.
    node_constraints : str
        Which nodes the pods may run on, one of `NODE_CONSTRAINTS`.

    """

    queues: Mapping[str, str] = field(default_factory=dict)
    rest: str = ""
    begin: float = 0.0
    end: float | None = None
    rate: float = 1.0
    size: float = 1.0
    run_time: float = 1.0
    node_constraints: str = LIKE_QUEUE
    rates: Mapping[str, float] = field(default_factory=dict)
    running: bool = False

    @property
    def key(self) -> Hashable:
        """Return a key that identifies the fitting, except its node constraints."""
        queues, rates = frozenset(self.queues.items()), frozenset(self.rates.items())
        factors = self.rate, rates, self.size, self.run_time
        return queues, self.rest, self.begin, self.end, self.running, *factors

    def known_constraints(
        self, document: Json, examples: Callable[[Json], KnownConstraints] = examples_of
    ) -> KnownConstraints | None:
        """Return the node constraints of a scenario's pods as examples; None: pods have no constraints.

        `examples` reads them without what the nodes offer.
        """
        return with_rooms(examples(document), document) if self.node_constraints == LIKE_QUEUE else None


def leaf_queues(document: Json) -> list[str]:
    """Return the leaf queues of a scenario, by name."""
    queues = {queue["metadata"]["name"]: queue.get("spec") or {} for queue in items(document.get("queues"))}
    parents = {spec.get("parent") for spec in queues.values()}
    return sorted({*queues, "default"} - parents - {"root"})


def fitted_to(
    trace: Trace,
    queues: Collection[str],
    fitting: Fitting,
    known: KnownConstraints | None = NOTHING_KNOWN,
) -> tuple[Trace, list[Problem]]:
    """Return a trace whose jobs are in queues of the scenario, or why it cannot be fitted.

    Jobs that run when its window begins were submitted at negative times.

    Parameters
    ----------
    trace : Trace
        The workload as it was read.
    queues : collection of str
        The scenario's queues that may have jobs.
    fitting : Fitting
        How it is fitted.
    known : KnownConstraints or None
        Examples of node constraints, see `Fitting.known_constraints`.

    """
    running, window = _running(trace, fitting), trace
    if fitting.begin or fitting.end is not None:
        end = trace.span + 1.0 if fitting.end is None else fitting.end
        window = cut(trace, fitting.begin, end)
    whole = joined(window, running) if fitting.running else window
    table = {name: fitting.queues.get(name, name if name in queues else "") for name in whole.queues()}
    problems = [
        _problem(f"queues.{name}", f"there is no queue {to!r} that may have jobs", queues)
        for name, to in sorted(fitting.queues.items())
        if to not in queues
    ]
    problems += [
        Problem(
            "forecast.queue",
            "error",
            f"the trace has no queue {name!r}",
            path=f"{option}.{name}",
            fix=f"name one of {', '.join(sorted(trace.queues())[:10])}",
        )
        for option, named in (("queues", fitting.queues), ("rates", fitting.rates))
        for name in sorted(set(named) - set(trace.queues()))
    ]
    if fitting.rest and fitting.rest not in queues:
        problems.append(_problem("rest", f"there is no queue {fitting.rest!r} that may have jobs", queues))
    left = sorted(name for name, to in table.items() if not to)
    if left and not fitting.rest:
        named = ", ".join(name or "no name" for name in left[:10])
        problems.append(_problem("rest", f"the scenario has no queue for {named} of the trace", queues))
    if problems:
        return window, problems
    more = _scaled(window, fitting)
    if fitting.running:
        more = joined(more, running)
    more = mapped(more, {name: to for name, to in table.items() if to}, fitting.rest)
    placed, assumed = (without_constraints(more), []) if known is None else with_constraints(more, known)
    notes = (
        *more.notes,
        *_running_notes(running, is_left_out=not fitting.running),
        *_left_notes(whole, left, fitting.rest),
        *assumed,
    )
    return Trace(placed.jobs, placed.begin, notes), []


def _running(trace: Trace, fitting: Fitting) -> Trace:
    """Return the jobs of a trace that run when its window begins; scaled if they run on."""
    if not fitting.running:
        return running_at(trace, fitting.begin)
    earlier = replace(trace, jobs=tuple(job for job in trace.jobs if job.submitted < fitting.begin))
    return running_at(_scaled(earlier, fitting), fitting.begin)


def _scaled(trace: Trace, fitting: Fitting) -> Trace:
    return scaled(trace, rate=fitting.rate, rates=fitting.rates, size=fitting.size, run_time=fitting.run_time)


def _running_notes(running: Trace, *, is_left_out: bool) -> list[str]:
    """Return what becomes of the jobs of a trace that run when its window begins, as a note of a result."""
    jobs = counted(len(running.jobs), "job")
    if not running.jobs:
        return []
    if is_left_out:
        return [
            f"Left out: {jobs} submitted before the window of the trace that would still run when it begins."
            " Only jobs of the scenario run at the beginning, unless running jobs are placed first."
        ]
    return [
        f"Assumed: placed first, for what remains of the run time: {jobs} submitted before the window of the"
        " trace that would still run when it begins if none had waited."
    ]


def _left_notes(trace: Trace, left: Sequence[str], rest: str) -> list[str]:
    counts = trace.queues()
    jobs = sum(counts[name] for name in left)
    if not jobs:
        return []
    return [f"Assumed: queue {rest} for {jobs:,} job{'' if jobs == 1 else 's'} of other queues in the trace."]


def _problem(path: str, message: str, queues: Collection[str]) -> Problem:
    shown = ", ".join(sorted(queues)[:10]) + (" …" if len(queues) > 10 else "")
    return Problem("forecast.queue", "error", message, path=path, fix=f"name one of {shown}")


def own_trace(document: Json) -> Trace:
    """Return the finished jobs of the snapshot as a workload."""
    whole = trace_of_objects(*(items(document.get(name)) for name in ("podgroups", "pods", "jobs")))
    done = tuple(job for job in whole.jobs if job.run_seconds is not None)
    left = len(whole.jobs) - len(done)
    notes = [f"Left out: {left:,} job{'' if left == 1 else 's'} that had not finished."] if left else []
    return Trace(done, whole.begin, tuple(notes))


def more_of(trace: Trace, *, seconds: float, seed: int, covers: float | None = None) -> Trace:
    """Return a workload of the same pattern: the rates of each hour and weekday, and similar jobs by queue.

    `covers` is how many seconds the trace covers; None: until its last submission.
    """
    patterns = [fitted(trace, queue, covers) for queue in sorted(trace.queues())]
    return generate(patterns, seconds=seconds, seed=seed)


def drawn_from(trace: Trace, fitting: Fitting, seconds: float, seed: int) -> tuple[Trace, Fitting]:
    """Return the workload that a seed draws from a window of a trace, and its fitting.

    The window is as long as the forecast, but ends with the trace at the latest.
    """
    end = fitting.begin + seconds
    window = cut(trace, fitting.begin, end)
    covers = min(seconds, max(trace.span - fitting.begin, 3600.0))
    made = replace(more_of(window, seconds=covers, seed=seed, covers=covers), begin=window.begin)
    if fitting.running:
        made = joined(made, running_at(trace, fitting.begin))
    drawn = made.queues()
    queues = {name: to for name, to in fitting.queues.items() if name in drawn}
    rates = {name: factor for name, factor in fitting.rates.items() if name in drawn}
    return made, replace(fitting, queues=queues, rates=rates, begin=0.0, end=seconds)
