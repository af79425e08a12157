"""Side effects of a change: the other jobs whose outcome differs, in numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any

from scheduler_core.explain.cycle_view import Object
from scheduler_core.explain.loops import jobs_in_loops
from scheduler_core.explain.wording import agreed, counted, listed

PLACED = ("Allocated", "Binding", "Bound", "Running", "Succeeded")
PROMISED = ("Pipelined",)
_MOST_NAMED = 3


@dataclass(frozen=True)
class JobOutcome:
    """The placement of a job's pods at the end of a run.

    Attributes
    ----------
    pending : set of str
        The pods that wait.
    placed, promised : mapping
        The node of each pod that is placed, or pipelined.
    served : bool
        Whether the job has its minimum placed.
    reserved : bool
        Whether the job has its minimum placed or pipelined.
    has_pods : bool
        Whether it has any pods. A job without pods can only be enqueued.

    """

    queue: str
    phase: str
    pending: Set[str]
    minimum: int
    placed: Mapping[str, str]
    promised: Mapping[str, str]
    served: bool
    reserved: bool
    has_pods: bool

    @property
    def stands(self) -> tuple[Any, ...]:
        """Return the places of the pods, and the phase."""
        return self.placed, self.promised, self.phase


class Outcome:
    """The outcome of a run for all jobs.

    Attributes
    ----------
    jobs : dict
        A `JobOutcome` by job.
    evicted : dict
        The last eviction of each pod.
    times : dict
        The number of its evictions in all cycles, by pod.
    vacated : set of str
        The nodes from which pods were evicted.
    releasing : set of str
        The nodes on which pods are still terminating at the end.
    looping : set of str
        The jobs in an eviction loop: either they lose again what they have at the end, or they evict for pods
        that are never placed.

    """

    def __init__(self, result: Object) -> None:
        self.jobs = {entry["name"]: _job(entry) for entry in result["cycles"][-1]["podgroups"]}
        steps = list(_evictions(result))
        self.evicted = {step["pod"]: self._evicted(step) for step in steps}
        self.times = Counter(step["pod"] for step in steps)
        self.vacated = {step.get("node") or "" for step in steps}
        nodes = result["cycles"][-1]["nodes"]
        self.releasing = {entry["name"] for entry in nodes if any(entry["releasing"].values())}
        self.looping = jobs_in_loops(result)

    def lost(self, job: str) -> int:
        """Return how many pods of a job were evicted and are neither placed again nor pending."""
        own = self.jobs[job]
        there = {*own.placed, *own.promised, *own.pending}
        return sum(entry["job"] == job and pod not in there for pod, entry in self.evicted.items())

    def _evicted(self, step: Object) -> dict[str, str]:
        job = self.jobs.get(step["job"])
        queue = job.queue if job is not None else ""
        return {"pod": step["pod"], "job": step["job"], "queue": queue, "for": step.get("for") or ""}


def _evictions(result: Object) -> Iterator[Object]:
    """Yield the committed evictions of all cycles."""
    for cycle in result["cycles"]:
        for step in cycle["decisions"]:
            if step["op"] == "evict" and step["state"] == "committed":
                yield step


def _job(entry: Object) -> JobOutcome:
    placed = {task["pod"]: task["node"] for task in entry["tasks"] if task["status"] in PLACED}
    promised = {task["pod"]: task["node"] for task in entry["tasks"] if task["status"] in PROMISED}
    minimum = max(1, entry["minAvailable"])
    return JobOutcome(
        queue=entry["queue"],
        phase=entry["phase_after"] or "",
        pending={task["pod"] for task in entry["tasks"] if task["status"] == "Pending"},
        minimum=minimum,
        placed=placed,
        promised=promised,
        served=bool(entry["session_job_ready"]) and len(placed) >= minimum,
        reserved=bool(entry["session_job_pipelined"])
        and bool(promised)
        and len(placed) + len(promised) >= minimum,
        has_pods=bool(entry["tasks"]),
    )


def effects(before: Outcome, after: Outcome, job: str) -> dict[str, Any]:
    """Return the differences for all jobs but `job`.

    Returns
    -------
    dict
        `evicted` (additional evicted pods), `spared` (pods that are no longer evicted), `repeated` (pods that
        are evicted in both cases, more or less often: `before` and `after`), `changed` (each other
        job whose pods have other places, or whose phase differs: its queue, the pods placed and pipelined
        before and after, how many are placed in both cases, how many of these are on other nodes, its phase
        before and after), `stopped` and `started` (jobs that lose or get their minimum).

    """
    names = [name for name in before.jobs if name != job and name in after.jobs]
    changed = [
        _compared(name, before.jobs[name], after.jobs[name])
        for name in names
        if before.jobs[name].stands != after.jobs[name].stands
    ]
    return {
        "evicted": [entry for pod, entry in after.evicted.items() if pod not in before.evicted],
        "spared": [entry for pod, entry in before.evicted.items() if pod not in after.evicted],
        "repeated": [
            {
                "pod": pod,
                "job": entry["job"],
                "queue": entry["queue"],
                "before": times,
                "after": after.times[pod],
            }
            for pod, entry in before.evicted.items()
            if after.times[pod] not in (0, times := before.times[pod])
        ],
        "changed": changed,
        "stopped": [name for name in names if before.jobs[name].served and not after.jobs[name].served],
        "started": [name for name in names if after.jobs[name].served and not before.jobs[name].served],
    }


def _whose(entry: Mapping[str, str]) -> dict[str, str]:
    return {name: entry[name] for name in ("pod", "job", "queue")}


def _compared(name: str, before: JobOutcome, after: JobOutcome) -> dict[str, Any]:
    stay = before.placed.keys() & after.placed.keys()
    return {
        "job": name,
        "queue": after.queue,
        "placed": {"before": len(before.placed), "after": len(after.placed)},
        "pipelined": {"before": len(before.promised), "after": len(after.promised)},
        "kept": len(stay),
        "elsewhere": sum(before.placed[pod] != after.placed[pod] for pod in stay),
        "phase": {"before": before.phase, "after": after.phase},
    }


def cost(effect: Mapping[str, Any]) -> int:
    """Return the cost of a change to others, in pods: additional evictions, or pods that lose their node."""
    lost = 0
    for entry in effect["changed"]:
        had = entry["placed"]["before"] + entry["pipelined"]["before"]
        has = entry["placed"]["after"] + entry["pipelined"]["after"]
        lost += max(0, had - has)
    return max(lost, len(effect["evicted"]))


def effect_text(effect: Mapping[str, Any]) -> str:
    """Return the effects as a phrase; "nothing else changes" if there are none."""
    parts = []
    if effect["evicted"]:
        queues = sorted({entry["queue"] for entry in effect["evicted"]})
        parts.append(
            f"{counted(len(effect['evicted']), 'more pod')} would be evicted "
            f"({agreed(len(queues), 'queue', 'queues')} {listed(queues)})"
        )
    if effect["spared"]:
        count = len(effect["spared"])
        parts.append(f"{counted(count, 'pod')} would no longer be evicted")
    parts += _repeated(effect["repeated"])
    losing = {entry["job"] for entry in effect["evicted"]}
    by_kind: dict[str, list[Mapping[str, Any]]] = {}
    for entry in effect["changed"]:
        by_kind.setdefault(_kind(entry, losing), []).append(entry)
    parts += _lost(by_kind.get("lost", []))
    parts += _counts(sorted(by_kind.get("counts", []), key=_loss), losing)
    parts += _elsewhere(by_kind.get("elsewhere", []))
    parts += _phases(by_kind.get("phase", []))
    if others := by_kind.get("others"):
        parts.append(f"other pods or nodes are chosen for {_named(others)}")
    return ", ".join(parts) or "nothing else changes"


def _repeated(entries: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    more = [entry for entry in entries if entry["after"] > entry["before"]]
    fewer = [entry for entry in entries if entry["after"] < entry["before"]]
    for found, often in ((more, "more often"), (fewer, "less often")):
        if found:
            before, after = (sum(entry[side] for entry in found) for side in ("before", "after"))
            yield (
                f"{counted(len(found), 'pod')} would be evicted {often} "
                f"({counted(after, 'eviction')} instead of {before:,})"
            )


def _kind(entry: Mapping[str, Any], losing: set[str]) -> str:
    """Return the category of a job's change."""
    placed, pipelined, phase = entry["placed"], entry["pipelined"], entry["phase"]
    if placed["after"] == 0 < placed["before"] and entry["job"] in losing:
        return "lost"
    if placed["before"] != placed["after"] or pipelined["before"] != pipelined["after"]:
        return "counts"
    if entry["elsewhere"]:
        return "elsewhere"
    return "phase" if phase["before"] != phase["after"] else "others"


def _loss(entry: Mapping[str, Any]) -> tuple[int, str]:
    """Return a sort key that puts the job with the largest loss first."""
    placed = entry["placed"]
    return placed["after"] - placed["before"], entry["job"]


def _named(entries: Sequence[Mapping[str, Any]]) -> str:
    """Return the jobs by name, or by number if they are many."""
    names = [entry["job"] for entry in entries]
    return listed(names) if len(names) <= _MOST_NAMED else counted(len(names), "other job")


def _lost(entries: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    if len(entries) == 1:
        before = entries[0]["placed"]["before"]
        yield f"{entries[0]['job']} loses {'its only pod' if before == 1 else f'all of its {before:,} pods'}"
    elif entries:
        total = sum(entry["placed"]["before"] for entry in entries)
        yield f"{_named(entries)} lose all of their pods ({total:,})"


def _counts(entries: Sequence[Mapping[str, Any]], losing: set[str]) -> Iterator[str]:
    for entry in entries[:_MOST_NAMED]:
        job, placed, pipelined = entry["job"], entry["placed"], entry["pipelined"]
        before, after = placed["before"], placed["after"]
        if before != after and pipelined["before"] != pipelined["after"]:
            yield (
                f"{job} has {after} placed and {counted(pipelined['after'], 'pipelined pod')} instead of "
                f"{before} and {pipelined['before']}"
            )
        elif before == after:
            yield f"{job} has {counted(pipelined['after'], 'pipelined pod')} instead of {pipelined['before']}"
        elif job in losing and entry["kept"] == after < before:
            yield f"{job} keeps {after} of its {before} pods"
        else:
            yield f"{job} gets {counted(after, 'pod') if after else 'no pod'} instead of {before}"
    rest = entries[_MOST_NAMED:]
    if rest:
        yield f"{counted(len(rest), 'other job')} {agreed(len(rest), 'gets', 'get')} more or fewer pods"


def _elsewhere(entries: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    if entries:
        pods = sum(entry["elsewhere"] for entry in entries)
        where = agreed(pods, "runs on another node", "run on other nodes")
        yield f"{counted(pods, 'pod')} of {_named(entries)} {where}"


def _phases(entries: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    by_phase: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for entry in entries:
        by_phase.setdefault((entry["phase"]["before"], entry["phase"]["after"]), []).append(entry)
    for (before, after), jobs in sorted(by_phase.items()):
        is_now = f"{agreed(len(jobs), 'is', 'are')} {after or 'without a phase'}"
        yield f"{_named(jobs)} {is_now} instead of {before or 'without a phase'}"
