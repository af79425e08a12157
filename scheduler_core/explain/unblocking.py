"""Search by simulation for changes that let a waiting job run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from scheduler_core.explain.changes import applied, refusals
from scheduler_core.explain.cycle_view import CycleView, Object
from scheduler_core.explain.effects import cost, effect_text, effects
from scheduler_core.explain.offers import (
    KINDS,
    MOST_TRIED,
    PIPELINED,
    capitalised,
    gaps_text,
    merged_equals,
    order_of,
    refused_text,
    when_it_runs,
)
from scheduler_core.explain.pending import diagnosis
from scheduler_core.explain.reasons import Reason, reason
from scheduler_core.explain.remedies import Remedy, Sizes, both, remedies
from scheduler_core.explain.trials import Limits, OutOfTrials, Simulate, Trials, one_smaller
from scheduler_core.explain.wording import counted, listed

Found = dict[str, Any]

DEFAULT_LIMITS = Limits()
_MOST_PAIRS = 3


def unblocking(document: Object, job: str, simulate: Simulate, limits: Limits = DEFAULT_LIMITS) -> Found:
    """Return the smallest changes with which a job runs, or is pipelined; see `answers`."""
    *_, last = answers(document, job, simulate, limits)
    return last


def answers(
    document: Object, job: str, simulate: Simulate, limits: Limits = DEFAULT_LIMITS
) -> Iterator[Found]:
    """Yield the changes found so far that let a job run, after each one and at the end.

    Every change was simulated, and so was the one a unit smaller, with which the job still waits. Where the
    job is pipelined, later sessions were simulated as well. Pairs of changes are tried only if no single one
    is enough.

    Parameters
    ----------
    document : mapping
        The scenario.
    job : str
        Its key, namespace/name.
    simulate : callable
        ``simulate(parts, options)``: the result of the scenario with some of its parts replaced, such as the
        method of `scheduler_core.prepare(document)`.
    limits : Limits
        The limits of the search.

    Yields
    ------
    dict
        `job`, `waits` (else there is nothing to unblock), `simulations`, `complete` (whether all changes were
        tried within the limits), `stopped` (why not, else None), `changes`, by what they cost others and then
        by `extent`, those that only get the job pipelined last, and `not_enough`: a reason for each kind of
        change that does not help, and for each change that would help but that the webhook refuses, which is
        not offered. Each of `changes` has its reason, the `changes` to the scenario's objects,
        `one_step_smaller` (for each axis the changes with which the job still waits; none: the unchanged
        scenario), `runs` (`at once`, `after evictions`, `after terminations`, `in a later session`, or
        `pipelined` if later sessions do not bind it or were not simulated), `members` (pods placed,
        pipelined, pending and the minimum), `cost` (pods of others) and its side effects, see `effects`.

    Raises
    ------
    Unknown
        If the run does not have the job.

    """
    yield from _Search(Trials(document, job, simulate, limits)).answers()


class _Search:
    """One search: the changes found, those that were not enough, and those that remain to be tried."""

    def __init__(self, trials: Trials) -> None:
        self.trials = trials
        self.remedies: list[Remedy] = []
        self.found: list[Found] = []
        self.refused: list[Found] = []
        self.failed: dict[Remedy, list[Sizes]] = {}
        self.pairs = 0
        self.stopped: Reason | None = None

    def answers(self) -> Iterator[Found]:
        if self.trials.waits:
            try:
                for offer in self._offers():
                    (self.refused if offer.pop("refused") else self.found).append(offer)
                    yield self._result()
            except OutOfTrials:
                self.stopped = self._why_stopped()
        yield self._result()

    def _offers(self) -> Iterator[Found]:
        trials = self.trials
        about = diagnosis(trials.base, trials.job) or {}
        self.remedies = remedies(trials.base, trials.job, about)
        closer: dict[Remedy, int] = {}
        for remedy in self.remedies:
            result, outcome = trials.tried(remedy, remedy.largest)
            if outcome is None:
                self.failed[remedy] = [remedy.largest]
                closer[remedy] = self._closer(result, about)
            else:
                yield self._smallest(remedy, remedy.largest)
        for remedy in list(self.failed):
            for sizes in remedy.smaller:
                if trials.works(remedy, sizes):
                    del self.failed[remedy]
                    yield self._smallest(remedy, sizes)
                    break
                self.failed[remedy].append(sizes)
        if not self.found:
            yield from self._pairs(closer)

    def _smallest(self, remedy: Remedy, sizes: Sizes) -> Found:
        return self._offer(remedy, self.trials.smallest(remedy, sizes))

    def _closer(self, result: Mapping[str, Any], about: Mapping[str, Any]) -> int:
        """Return how far an insufficient change gets: 0 past the gate, 1 closer to it, 2 no closer."""
        view = self._view(result)
        now = diagnosis(view, self.trials.job) if view is not None else None
        if now is None:
            return 2
        gate = ("gate", "plugin", "queue", "resource")
        if any(now[name] != about[name] for name in gate) or now["members"] != about["members"]:
            return 0
        return 1 if any(now[name] != about[name] for name in ("short", "closest", "nodes")) else 2

    def _view(self, result: Mapping[str, Any]) -> CycleView | None:
        """Return the last cycle of a result, None if it does not have the job."""
        if "error" in result:
            return None
        view = CycleView(self.trials.document, result)
        return view if self.trials.job in view.jobs else None

    def _pairs(self, closer: Mapping[Remedy, int]) -> Iterator[Found]:
        """Yield pairs of changes: the first gets the job past or near its gate, the second lets it run."""
        seen: set[frozenset[tuple[str, str]]] = set()
        useful = [
            remedy for remedy in sorted(closer, key=lambda remedy: closer[remedy]) if closer[remedy] < 2
        ]
        for first in useful:
            for second in self._seconds(first):
                names = frozenset([(first.name, first.what), (second.name, second.what)])
                if len(names) < 2 or names in seen:
                    continue
                seen.add(names)
                self.pairs += 1
                pair = both(first, second)
                if self.trials.works(pair, pair.largest):
                    yield self._smallest(pair, pair.largest)
                    if len(self.found) >= _MOST_PAIRS:
                        return

    def _seconds(self, first: Remedy) -> list[Remedy]:
        """Return the remedies after a first change."""
        document = {**self.trials.document, **applied(self.trials.document, first.changes(first.largest))}
        result, _ = self.trials.tried(first, first.largest)
        view = CycleView(document, result)
        about = diagnosis(view, self.trials.job)
        return remedies(view, self.trials.job, about) if about is not None else []

    def _offer(self, remedy: Remedy, sizes: Sizes) -> Found:
        """Return a change that works, with its side effects."""
        trials = self.trials
        outcome = trials.working(remedy, sizes)
        assert outcome is not None, "only what works is offered"
        others = effects(trials.before, outcome, trials.job)
        own = outcome.jobs[trials.job]
        binds = trials.binds_later(remedy, sizes) if own.promised else True
        runs = when_it_runs(outcome, trials.job) if binds else PIPELINED
        counts = {
            "minimum": own.minimum,
            "placed": len(own.placed),
            "pipelined": len(own.promised),
            "pending": len(own.pending),
        }
        sentence = (
            f"{capitalised(remedy.sentence(sizes))}: {self._runs(counts, outcome.lost(trials.job), runs)}"
            f"{self._unless_bound(binds)}; {effect_text(others)}."
            f"{gaps_text(remedy, trials.gaps(remedy, sizes))}"
        )
        changes = remedy.changes(sizes)
        refused = refusals(trials.document, changes)
        if refused:
            sentence = refused_text(remedy.sentence(sizes), refused)
        return {
            "id": remedy.name,
            "reason": reason(remedy.name, sentence, remedy.numbers(sizes)),
            "runs": runs,
            "members": counts,
            "cost": cost(others),
            "refused": refused,
            "changes": [change.as_dict() for change in changes],
            "one_step_smaller": [
                [change.as_dict() for change in remedy.changes(smaller)] if any(smaller) else []
                for _, smaller in one_smaller(sizes)
            ],
            **others,
        }

    def _runs(self, counts: Mapping[str, int], lost: int, when: str) -> str:
        """Return what then runs: the job or its rest, with the number of pods if not all of them run."""
        job = self.trials.job
        if not self.trials.has_pods:
            return f"job {job} is then enqueued, and its controller creates its pods"
        whole = f"the rest of job {job}" if self.trials.was_served else f"job {job}"
        got, without = counts["placed"] + counts["pipelined"], counts["pending"] + lost
        part = f" with {got} of its {counted(got + without, 'pod')}" if without else ""
        return f"{whole} is then pipelined{part}" if when == PIPELINED else f"{whole} then runs{part} {when}"

    def _unless_bound(self, binds: bool | None) -> str:
        """Return as a clause that later sessions do not bind the job."""
        if binds is not False:
            return ""
        return f", but it does not run within {counted(self.trials.later_sessions, 'more session')}"

    def _result(self) -> Found:
        trials = self.trials
        return {
            "job": trials.job,
            "waits": trials.waits,
            "simulations": trials.count,
            "complete": self.stopped is None,
            "stopped": self.stopped,
            "changes": merged_equals(sorted(self.found, key=order_of)),
            "not_enough": list(self._not_enough()),
        }

    def _not_enough(self) -> Iterator[Reason]:
        """Yield a reason for each kind of change that does not help."""
        helped = {offer["id"] for offer in (*self.found, *self.refused)}
        for name, words in KINDS.items():
            tried = [remedy for remedy in self.failed if remedy.name == name]
            if tried and name not in helped:
                is_sampled = any(remedy.largest != (1,) for remedy in tried)
                helps = "was found to help" if is_sampled else "helps"
                limit = "down to " if words.startswith("smaller ") else "up to "
                upto = limit if any(axis.most > 1 for remedy in tried for axis in remedy.axes) else ""
                named = listed(remedy.tried(remedy.largest) for remedy in tried[:MOST_TRIED])
                some = f"{upto}{named}" if len(tried) <= MOST_TRIED else f"{len(tried)} of them"
                yield reason(name, f"No {words} {helps} (tried {some}).", {"tried": len(tried)})
        yield from (offer["reason"] for offer in self.refused)
        if self.pairs and not self.found:
            text = f"No pair of changes was found to help (tried {self.pairs})."
            yield reason("unblock.pair", text, {"tried": self.pairs})

    def _why_stopped(self) -> Reason:
        trials, limits = self.trials, self.trials.limits
        seconds = f"{trials.spent / 1000:.0f} s"
        bound = seconds if trials.is_late else counted(limits.simulations, "simulation")
        tried = len(self.found) + len(self.refused) + len(self.failed)
        left = len(self.remedies) - tried
        if self.pairs or not left:
            what = "other pairs of changes were not tried"
        else:
            what = f"{left} of {counted(len(self.remedies), 'change')} not tried"
        numbers = {
            "simulations": trials.count,
            "tried": tried,
            "changes": len(self.remedies),
            "pairs": self.pairs,
        }
        return reason("unblock.stopped", f"Stopped after {bound}: {what}.", numbers)
