"""Search by simulation for changes that end an eviction loop."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from scheduler_core.explain.cycle_view import CycleView, Object
from scheduler_core.explain.loop_changes import Candidate, candidates
from scheduler_core.explain.loops import loops, loops_of
from scheduler_core.explain.reasons import Reason, reason
from scheduler_core.explain.trials import Simulate
from scheduler_core.explain.wording import agreed, counted, listed
from scheduler_core.options import Options
from scheduler_core.prepared import Prepared

Story = dict[str, Any]

SIMULATED_PODS = 2_000_000
"""The maximum number of pods simulated in a search, each counted once per cycle."""

MOST_SIMULATIONS = 60


def searched(document: Object, result: Object, simulate: Simulate) -> list[Story]:
    """Return `loops` with `changes`: the single changes that end the loop, found by simulation.

    Each was simulated over the cycles of the run and two more turns, without a loop and without an eviction
    in the last two turns. The first change evicts the fewest pods, then leaves the fewest waiting. Each has
    its `reason`, `changes` (to the scenario's objects), `evicted` (evictions until the end) and `waiting`
    (pods). `complete` is False if the limits stopped the search.
    """
    found = loops(document, result)
    if found:
        (loop,) = found
        trials = _Trials(document, result, simulate, loop)
        loop.update(changes=trials.changes(), complete=trials.complete)
    return found


def with_loops(prepared: Prepared, result: dict[str, Any], options: Options) -> dict[str, Any]:
    """Return a result with `searched` in place of its loops; most results have none."""
    if not loops_of(result) or not options.explain:
        return result

    def simulate(parts: Object, how: Options) -> Object:
        return prepared.simulate(parts, replace(how, extender=options.extender))

    return {**result, "loops": searched(prepared.document, result, simulate)}


class _Trials:
    def __init__(self, document: Object, result: Object, simulate: Simulate, loop: Story) -> None:
        self.document = document
        self.result = result
        self.simulate = simulate
        self.loop = loop
        self.cycles = len(result["cycles"]) + 2 * loop["period"]
        pods = sum(len(job["tasks"]) for job in result["cycles"][0]["podgroups"]) + 1
        self.left = min(MOST_SIMULATIONS, SIMULATED_PODS // (pods * self.cycles))
        self.complete = True

    def changes(self) -> list[Story]:
        """Return the changes that end the loop, best first."""
        offers = []
        for place, candidate in enumerate(candidates(CycleView(self.document, self.result), self.loop)):
            offer = self._smallest(candidate)
            if offer is not None:
                offers.append(((offer["evicted"], offer["waiting"], place), offer))
        return [offer for _, offer in sorted(offers, key=lambda entry: entry[0])]

    def _smallest(self, candidate: Candidate) -> Story | None:
        """Return the change with the fewest steps that end the loop, None if even the most do not."""
        best = self._offer(candidate, candidate.largest)
        if best is None:
            return None
        short, enough = 0, candidate.largest
        while enough - short > 1 and self.left > 0:
            middle = (short + enough) // 2
            offer = self._offer(candidate, middle)
            if offer is None:
                short = middle
            else:
                best, enough = offer, middle
        return best

    def _offer(self, candidate: Candidate, steps: int) -> Story | None:
        if self.left <= 0:
            self.complete = False
            return None
        self.left -= 1
        parts = {**candidate.parts(self.document, steps), "cycles": self.cycles}
        result = self.simulate(parts, Options(explain=False))
        cycles: Sequence[Object] = result.get("cycles") or ()
        if "error" in result or loops_of(result) or len(cycles) < self.cycles:
            return None
        gone = [_evictions(cycle) for cycle in cycles]
        if any(gone[-2 * self.loop["period"] :]):
            return None
        waiting = sum(job["task_status"].get("Pending", 0) for job in cycles[-1]["podgroups"])
        return {
            "reason": self._reason(candidate, steps, cycles, sum(gone)),
            "changes": [change.as_dict() for change in candidate.changes(steps)],
            "evicted": sum(gone),
            "waiting": waiting,
        }

    def _reason(self, candidate: Candidate, steps: int, cycles: Sequence[Object], evicted: int) -> Reason:
        last = {job["name"]: job for job in cycles[-1]["podgroups"]}
        waits = [job for job in self.loop["jobs"] if last[job]["task_status"].get("Pending", 0)]
        runs = [job for job in self.loop["jobs"] if job not in waits]
        gone = "no pod is evicted" if not evicted else f"evictions stop after {counted(evicted, 'eviction')}"
        ends = [f"{_jobs(runs)} {agreed(len(runs), 'runs', 'run')}"] if runs else []
        ends += [f"{_jobs(waits)} {agreed(len(waits), 'waits', 'wait')}"] if waits else []
        change = candidate.sentence(steps)
        text = f"{change[:1].upper()}{change[1:]}: {gone}; {', '.join(ends)}."
        return reason("loop.ends", text, {"evicted": evicted})


def _jobs(names: Sequence[str]) -> str:
    return f"{agreed(len(names), 'job', 'jobs')} {listed(names)}"


def _evictions(cycle: Object) -> int:
    return sum(step["op"] == "evict" and step["state"] == "committed" for step in cycle["decisions"])
