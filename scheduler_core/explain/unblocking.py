"""What would have to change so that a waiting job runs? Found by simulation, never guessed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from scheduler_core.explain.changes import applied
from scheduler_core.explain.levers import Lever, Sizes, levers
from scheduler_core.explain.pending import diagnosis
from scheduler_core.explain.picture import Object, Picture
from scheduler_core.explain.reasons import reason
from scheduler_core.explain.wording import agreed, counted, listed

Simulate = Callable[[Mapping[str, Any]], Mapping[str, Any]]
DEFAULT_LIMIT = 120
_MOST_NAMED = 3


class OutOfTrials(Exception):
    """No more simulations are allowed."""


def unblocking(
    document: Object, job: str, simulate: Simulate, *, limit: int = DEFAULT_LIMIT
) -> dict[str, Any]:
    """Return the smallest single changes that make a job run, or promise it its places.

    Every change offered was simulated, and so was the one a step smaller, with which the job still waits. One
    change may raise several resources of a queue together; then each of them is as small as it can be.

    Parameters
    ----------
    document : mapping
        The scenario.
    job : str
        Its key, namespace/name.
    simulate : callable
        ``simulate(parts)``: the result of the scenario with some of its parts replaced, such as the method of
        `scheduler_core.prepare(document)`.
    limit : int
        The most simulations to run.

    Returns
    -------
    dict
        `job`, `waits` (else there is nothing to unblock), `simulations`, `complete` (whether all changes were
        tried within the limit), `changes`, and `in_vain`: what was tried as far as it goes and did not help.
        Each of `changes` has its reason, the `changes` to the scenario's objects, `one_step_smaller` (for
        each thing that was raised the changes with which the job still waits; none: as it is), `runs` (at
        once or after evictions) and its side effects `evicted`, `stopped` and `started`.

    Raises
    ------
    Unknown
        If the run does not have the job.

    """
    trials = Trials(document, job, simulate, limit)
    told: dict[str, Any] = {"job": trials.job, "waits": trials.waits}
    found: list[dict[str, Any]] = []
    in_vain: list[dict[str, Any]] = []
    complete = True
    if trials.waits:
        about = diagnosis(trials.base, trials.job) or {}
        for lever in levers(trials.base, trials.job, about):
            try:
                sizes = trials.smallest(lever)
            except OutOfTrials:
                complete = False
                break
            if sizes is None:
                text = lever.sentence(lever.largest)
                in_vain.append(reason(lever.name, f"Not enough: {text}.", lever.numbers(lever.largest)))
            else:
                found.append(trials.offer(lever, sizes))
    return {**told, "simulations": trials.count, "complete": complete, "changes": found, "in_vain": in_vain}


class Trials:
    """The simulations of one search, each made once.

    Attributes
    ----------
    base : Picture
        The last cycle of the scenario as it is.
    count : int
        How many simulations were made.

    """

    def __init__(self, document: Object, job: str, simulate: Simulate, limit: int) -> None:
        self.document = document
        self.simulate = simulate
        self.limit = limit
        self.count = 1
        self.base = Picture(document, simulate({}))
        self.job: str = self.base.job(job)["name"]
        self.was_ready = _is_ready(self.base.jobs[self.job])
        pending = self.base.jobs[self.job]["task_status"].get("Pending")
        self.waits = bool(pending) and not self.runs(self.base.result)
        self._lever: Lever | None = None
        self._results: dict[Sizes, Mapping[str, Any]] = {}

    def runs(self, result: Mapping[str, Any]) -> bool:
        """Tell whether the job gets what it waits for: its minimum, or the rest once it had that."""
        cycles = result.get("cycles")
        if "error" in result or not cycles:
            return False
        entry = next((entry for entry in cycles[-1]["podgroups"] if entry["name"] == self.job), None)
        if entry is None:
            return False
        if self.was_ready:
            return not entry["task_status"].get("Pending")
        return _is_ready(entry) or bool(entry["session_job_pipelined"] and _promised(entry))

    def result(self, lever: Lever, sizes: Sizes) -> Mapping[str, Any]:
        """Return the result of a lever at so many steps."""
        if not any(sizes):
            return self.base.result
        if lever is not self._lever:
            self._lever, self._results = lever, {}
        known = self._results.get(sizes)
        if known is None:
            if self.count >= self.limit:
                raise OutOfTrials
            self.count += 1
            parts = applied(self.document, lever.changes(sizes))
            known = self._results[sizes] = self.simulate(parts)
        return known

    def works(self, lever: Lever, sizes: Sizes) -> bool:
        """Tell whether the job runs with a lever at so many steps."""
        return self.runs(self.result(lever, sizes))

    def smallest(self, lever: Lever) -> Sizes | None:
        """Return the fewest steps on every axis with which the job runs, None when not even all do."""
        sizes = lever.largest
        if not any(sizes) or not self.works(lever, sizes):
            return None
        for axis, guess in enumerate(lever.guess):
            sizes = self._along(lever, sizes, axis, guess)
        while (loose := self._loose_axis(lever, sizes)) is not None:
            sizes = self._along(lever, sizes, loose, sizes[loose] - 1)
        return sizes

    def _loose_axis(self, lever: Lever, sizes: Sizes) -> int | None:
        """Return an axis that can still be lowered by a step, None when none can."""
        return next((axis for axis, smaller in _one_smaller(sizes) if self.works(lever, smaller)), None)

    def _along(self, lever: Lever, sizes: Sizes, axis: int, guess: int) -> Sizes:
        """Lower one axis as far as it goes: from the guess by doubling, then by bisection."""

        def works(steps: int) -> bool:
            return self.works(lever, _at(sizes, axis, steps))

        if works(0):
            return _at(sizes, axis, 0)
        fails, runs = 0, sizes[axis]
        if fails < guess < runs:
            fails, runs = (fails, guess) if works(guess) else (guess, runs)
        down, step = runs == guess, 1
        while runs - fails > 1 and step < runs - fails:
            middle = runs - step if down else fails + step
            if works(middle):
                runs = middle
                if not down:
                    break
            else:
                fails = middle
                if down:
                    break
            step *= 2
        while runs - fails > 1:
            middle = (fails + runs) // 2
            fails, runs = (fails, middle) if works(middle) else (middle, runs)
        return _at(sizes, axis, runs)

    def offer(self, lever: Lever, sizes: Sizes) -> dict[str, Any]:
        """Return a change that works, with what else it does."""
        result = self.result(lever, sizes)
        after = Picture(self.document, result)
        effects = self._effects(after)
        promised = bool(after.jobs[self.job]["task_status"].get("Pipelined"))
        runs = "after evictions" if promised else "at once"
        return {
            "id": lever.name,
            "reason": reason(
                lever.name,
                f"{_upper(lever.sentence(sizes))}: {self._whole} then runs {runs}; {_said(effects)}.",
                lever.numbers(sizes),
            ),
            "runs": runs,
            "changes": [change.as_dict() for change in lever.changes(sizes)],
            "one_step_smaller": [
                [change.as_dict() for change in lever.changes(smaller)] if any(smaller) else []
                for _, smaller in _one_smaller(sizes)
            ],
            **effects,
        }

    @property
    def _whole(self) -> str:
        return f"the rest of job {self.job}" if self.was_ready else f"job {self.job}"

    def _effects(self, after: Picture) -> dict[str, Any]:
        before = _evicted(self.base)
        evicted = {pod: entry for pod, entry in _evicted(after).items() if pod not in before}
        was = {name for name, entry in self.base.jobs.items() if _is_ready(entry)}
        now = {name for name, entry in after.jobs.items() if _is_ready(entry)}
        return {
            "evicted": list(evicted.values()),
            "stopped": sorted((was - now) & after.jobs.keys()),
            "started": sorted(now - was - {self.job}),
        }


def _upper(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]


def _at(sizes: Sizes, axis: int, steps: int) -> Sizes:
    return (*sizes[:axis], steps, *sizes[axis + 1 :])


def _one_smaller(sizes: Sizes) -> Iterator[tuple[int, Sizes]]:
    """Yield every axis that was moved, with the sizes one step smaller on it."""
    for axis, steps in enumerate(sizes):
        if steps:
            yield axis, _at(sizes, axis, steps - 1)


def _is_ready(entry: Object) -> bool:
    """Tell whether a job has its minimum, of pods that have their place now."""
    status = entry["task_status"]
    held = any(status.get(name) for name in ("Binding", "Bound", "Running", "Allocated"))
    return bool(entry["session_job_ready"] and held)


def _promised(entry: Object) -> bool:
    return bool(entry["task_status"].get("Pipelined"))


def _evicted(picture: Picture) -> dict[str, dict[str, Any]]:
    """Return who is evicted in a run, by pod, over all its cycles."""
    found = {}
    for told in picture.result["cycles"]:
        for step in told["decisions"]:
            if step["op"] == "evict" and step["state"] == "committed":
                found[step["pod"]] = {
                    "pod": step["pod"],
                    "job": step["job"],
                    "queue": picture.queue_of_job(step["job"]),
                    "for": step.get("for") or "",
                }
    return found


def _named(jobs: Sequence[str]) -> str:
    return listed(jobs) if len(jobs) <= _MOST_NAMED else counted(len(jobs), "other job")


def _said(effects: Mapping[str, Any]) -> str:
    parts = []
    if effects["evicted"]:
        queues = sorted({entry["queue"] for entry in effects["evicted"]})
        parts.append(
            f"{counted(len(effects['evicted']), 'more pod')} would be evicted "
            f"({agreed(len(queues), 'queue', 'queues')} {listed(queues)})"
        )
    if effects["stopped"]:
        needs = agreed(len(effects["stopped"]), "it needs", "they need")
        parts.append(f"{_named(effects['stopped'])} would lose what {needs}")
    if effects["started"]:
        parts.append(f"{_named(effects['started'])} would start as well")
    return ", ".join(parts) or "nothing else changes"
