"""Eviction loops: pods that are endlessly evicted and bound again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from scheduler_core.explain.cycle_view import Amounts, CycleView, Object, plus
from scheduler_core.explain.reasons import Reason, reason
from scheduler_core.explain.victims import evictions
from scheduler_core.explain.wording import agreed, counted, listed, quantities
from scheduler_core.rendering import plain
from scheduler_core.resource import MIN_RESOURCE, PODS

Story = dict[str, Any]

_MOST_NAMED = 5


class Loop(NamedTuple):
    """A loop of a run: from the first cycle on, the same state returns every `period` cycles."""

    first_cycle: int
    period: int
    cycles: int

    @property
    def turns(self) -> int:
        """Return the number of complete turns within the run."""
        return (self.cycles - self.first_cycle + 1) // self.period

    @property
    def one_turn(self) -> range:
        """Return the cycles of the first turn."""
        return range(self.first_cycle, self.first_cycle + self.period)


def loops_of(result: Object) -> list[Loop]:
    """Return the loops of a run."""
    cycles = result.get("cycles") or ()
    found = result.get("loops") or ()
    return [Loop(entry["first_cycle"], entry["period"], len(cycles)) for entry in found]


def loops(document: Object, result: Object) -> list[Story]:
    """Return the stories of a run's loops.

    Returns
    -------
    list of dict
        `first_cycle`, `period` and `turns` (complete ones within the run); `pods`, one entry for each pod
        that is evicted in a turn (`pod`, `job`, `queue`, `request`, `evicted_in` and `placed_in`: numbers of
        cycles of the whole run, `ran_cycles`: how long it runs in a turn); `jobs` and `queues` that take
        part; `waiting`: those jobs for which pods are evicted; `lost` in each turn (`pods`, `evictions`,
        `amounts`, `cycles` and `seconds` of running); `why`: what happens in a turn; and the `reason`.

    """
    return [_story_of(document, result, loop) for loop in loops_of(result)]


def _story_of(document: Object, result: Object, loop: Loop) -> Story:
    history = History(document, result)
    turn = [entry for entry in history.evictions if entry["cycle"] in loop.one_turn]
    pods = [history.member(name, loop) for name in sorted({entry["pod"] for entry in turn})]
    waiting = sorted({history.job_for(entry) for entry in turn} - {""})
    amounts: Amounts = {}
    for pod in pods:
        amounts = plus(amounts, pod["request"])
    seconds = float(document.get("cycle_seconds") or 1)
    ran = sum(pod["ran_cycles"] for pod in pods)
    lost = {
        "pods": len(pods),
        "evictions": len(turn),
        "amounts": plain(amounts),
        "cycles": ran,
        "seconds": plain(ran * seconds),
    }
    jobs = sorted({pod["job"] for pod in pods} | set(waiting))
    story = {
        "first_cycle": loop.first_cycle,
        "period": loop.period,
        "turns": loop.turns,
        "pods": pods,
        "jobs": jobs,
        "queues": sorted({history.queue_of(job) for job in jobs}),
        "waiting": waiting,
        "lost": lost,
    }
    return {**story, "why": list(_why(history, turn, pods)), "reason": _summary(story)}


def _summary(story: Story) -> Reason:
    """Return the sentence that summarises a loop."""
    pods, lost, period = story["pods"], story["lost"], story["period"]
    names = [pod["pod"] for pod in pods]
    named = listed(names) if len(names) <= _MOST_NAMED else counted(len(names), "pod")
    every = "every cycle" if period == 1 else f"every {period} cycles"
    most = max(len(pod["evicted_in"]) for pod in pods)
    times = "once" if most == 1 else f"up to {most} times" if len(pods) > 1 else f"{most} times"
    text = (
        f"An eviction loop: from cycle {story['first_cycle']} on the cluster is in the same state again "
        f"{every}. {named} ({quantities(lost['amounts'])}) {agreed(len(names), 'is', 'are')} evicted and "
        f"bound again in each turn, {times} in this run; each turn loses "
        f"{counted(lost['cycles'], 'cycle')} of running."
    )
    return reason("loop.found", text, {"period": period, "turns": story["turns"], **lost})


class History:
    """The evictions and placements of a run, over all cycles."""

    def __init__(self, document: Object, result: Object) -> None:
        self.result = result
        self.views = [CycleView(document, result, number) for number in range(1, len(result["cycles"]) + 1)]
        self.evictions = [
            {**entry, "cycle": view.number}
            for view in self.views
            for entry in evictions(view)
            if entry["state"] == "committed"
        ]
        self.placed: dict[str, list[int]] = {}
        self.placed_by: dict[tuple[str, int], str] = {}
        for view in self.views:
            for step in view.decisions:
                if step["op"] == "bind" and step["state"] == "committed":
                    self.placed.setdefault(step["pod"], []).append(view.number)
                    self.placed_by[step["pod"], view.number] = step["action"]

    def at(self, cycle: int) -> CycleView:
        """Return the view of a cycle, or of the last one for later cycles."""
        return self.views[min(cycle, len(self.views)) - 1]

    def job_for(self, entry: Object) -> str:
        """Return the job for which a pod was evicted."""
        return entry.get("for_job") or self.at(entry["cycle"]).job_of.get(entry["for"], "")

    def queue_of(self, job: str) -> str:
        """Return the queue of a job."""
        return self.views[0].queue_of_job(job)

    def member(self, pod: str, loop: Loop) -> Story:
        """Return the entry of a pod that a loop evicts."""
        own = [entry for entry in self.evictions if entry["pod"] == pod]
        placed, evicted = self.placed.get(pod, []), [entry["cycle"] for entry in own]
        ran = 0
        for cycle in evicted:
            if cycle in loop.one_turn:
                before = [start for start in placed if start < cycle]
                # A pod that ran at the start is bound again in each turn, a period before its next eviction.
                ran += cycle - (before[-1] if before else max(placed, default=cycle) - loop.period)
        return {
            "pod": pod,
            "job": own[0]["job"],
            "queue": own[0]["queue"],
            "request": plain(own[0]["freed"]),
            "evicted_in": evicted,
            "placed_in": placed,
            "ran_cycles": max(ran, 0),
        }


# why


def _why(history: History, turn: Sequence[Object], pods: Sequence[Story]) -> Iterator[Reason]:
    """Yield, by cycle, which pods a queue loses to a job and why, and why they are placed again."""
    members = {pod["pod"]: pod for pod in pods}
    links: dict[tuple[int, str, str, str], list[Object]] = {}
    for entry in turn:
        link = entry["cycle"], entry["action"], entry["queue"], history.job_for(entry)
        links.setdefault(link, []).append(entry)
    for (cycle, _, _, job), evicted in links.items():
        names = list(dict.fromkeys(entry["pod"] for entry in evicted))
        yield _evicted(history, evicted[0], job, names)
        back: dict[tuple[int, str], list[str]] = {}
        for name in names:
            again = _bound_again(members[name], cycle)
            back.setdefault((again, history.placed_by.get((name, again), "allocate")), []).append(name)
        for (again, action), bound in sorted(back.items()):
            if action == "allocate":
                yield _placed_again(history, evicted[0], job, again, bound)
            else:
                text = f"Cycle {again}: {action} binds {_named(bound)} again; job {job} evicts again."
                yield reason("loop.returns", text, {"queue": evicted[0]["queue"], "cycle": again})


def _bound_again(pod: Story, evicted_in: int) -> int:
    """Return the cycle that binds a pod again; if the run ends before, one that did so earlier."""
    placed = pod["placed_in"]
    return next((cycle for cycle in placed if cycle > evicted_in), placed[0] if placed else evicted_in)


def _evicted(history: History, entry: Object, job: str, victims: Sequence[str]) -> Reason:
    queue, cycle = entry["queue"], entry["cycle"]
    figures = history.at(cycle).queues("at_open").get(queue) or {}
    allocated, deserved = figures.get("allocated") or {}, figures.get("deserved") or {}
    above = [
        name
        for name, amount in allocated.items()
        if name != PODS and name in entry["freed"] and amount > deserved.get(name, 0.0) + MIN_RESOURCE
    ]
    holds = ""
    if figures and above and history.queue_of(job) != queue:
        limits = f"holds {quantities(allocated, above)} and deserves {quantities(deserved, above)}"
        holds = f"queue {queue} {limits}, so "
    text = (
        f"Cycle {cycle}: {holds}{entry['action']} evicts {_named(victims)} of queue {queue} for job {job} of "
        f"queue {history.queue_of(job)}."
    )
    numbers = {"action": entry["action"], "queue": queue, "allocated": allocated, "deserved": deserved}
    return reason("loop.evicts", text, numbers)


def _placed_again(history: History, entry: Object, job: str, cycle: int, back: Sequence[str]) -> Reason:
    queue, other = entry["queue"], history.queue_of(job)
    queues = history.at(cycle).queues("at_open")
    mine, theirs = queues.get(queue, {}).get("share"), queues.get(other, {}).get("share")
    first = "before it places the job that evicted"
    numbers: dict[str, Any] = {"queue": queue, "cycle": cycle}
    if queue != other and mine is not None and theirs is not None and mine < theirs:
        first = (
            f"first, because the share of queue {queue} has fallen to {mine:.4g}, below {theirs:.4g} of "
            f"queue {other}"
        )
        numbers.update(share=mine, other_share=theirs)
    text = (
        f"Cycle {cycle}: allocate binds {_named(back)} again {first}; "
        f"job {job} finds no room and evicts again."
    )
    return reason("loop.returns", text, numbers)


def _named(pods: Sequence[str]) -> str:
    return listed(pods) if len(pods) <= _MOST_NAMED else counted(len(pods), "pod")


# jobs


def jobs_in_loops(result: Object) -> set[str]:
    """Return the jobs that lose pods in a loop, and those for which pods are evicted there."""
    found: set[str] = set()
    for loop in loops_of(result):
        for number in loop.one_turn:
            cycle = result["cycles"][number - 1]
            job_of = {task["pod"]: job["name"] for job in cycle["podgroups"] for task in job["tasks"]}
            victims = (cycle.get("explain") or {}).get("victims") or ()
            found.update(entry["for_job"] for entry in victims if entry.get("for_job"))
            for step in cycle["decisions"]:
                if step["op"] == "evict" and step["state"] == "committed":
                    found.update({step["job"], job_of.get(step.get("for") or "", step["job"])})
    return found


def looping_jobs(document: Object, result: Object) -> Mapping[str, Reason]:
    """Return, for each job in a loop, the sentence on its state."""
    found: dict[str, Reason] = {}
    for loop in loops(document, result):
        for job in loop["jobs"]:
            own = [pod for pod in loop["pods"] if pod["job"] == job]
            found[job] = _standing(job, own, loop)
    return found


def _standing(job: str, own: Sequence[Story], loop: Story) -> Reason:
    numbers = {"period": loop["period"], "first_cycle": loop["first_cycle"]}
    if own:
        cycles = listed(str(number) for number in sorted({c for pod in own for c in pod["evicted_in"]}))
        text = (
            f"Job {job} is in an eviction loop: {_named([pod['pod'] for pod in own])} "
            f"{agreed(len(own), 'is', 'are')} evicted in cycles {cycles} and bound again in between, "
            "without end."
        )
    else:
        names = _named([pod["pod"] for pod in loop["pods"]])
        text = (
            f"Job {job} is in an eviction loop and never gets its place: {names} "
            f"{agreed(len(loop['pods']), 'is', 'are')} evicted for it again and again, and bound again "
            "before it."
        )
    return reason("job.loop", text, numbers)
