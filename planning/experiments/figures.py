"""Figures of a simulation that an experiment measures, in the scheduler's units.

Those of a forecast are in `planning.experiments.forecast_figures`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from planning.amounts import UNLIMITED, read_amounts
from planning.deficits import share_of
from planning.forecasts.clock import duration
from scheduler_core.explain.pending import awaits_pods

Json = Mapping[str, Any]
_WAITING = ("Pending", "Pipelined")
WAITS = ("wait_p50", "wait_p95")
"""Figures of a forecast in seconds, whose limits may be written as durations."""

PARTS_OF_1 = ("utilisation", "fairness")
"""Figures of one resource that are numbers from 0 to 1, not amounts."""


@dataclass(frozen=True)
class Figure:
    """A number of a result: of one queue or all queues, of one resource for an amount.

    Attributes
    ----------
    kind : str
        A key of `MEASURES`, or of those of a forecast.
    queue, resource : str
        Empty where the figure has none.

    """

    kind: str
    queue: str = ""
    resource: str = ""

    def __str__(self) -> str:
        of = f" of {self.queue}" if self.queue else ""
        return f"{self.kind}{f' {self.resource}' if self.resource else ''}{of}"

    @property
    def reads(self) -> frozenset[str]:
        """Return the parts of a cycle that the figure needs."""
        return PARTS[self.kind]

    def of(self, result: Json) -> float:
        """Return the number from a result of the core; 0 for a queue that is in no session."""
        return MEASURES[self.kind](self, result)


@dataclass(frozen=True)
class Goal:
    """A limit of a figure: at most `most` or at least `least`; None means no limit."""

    figure: Figure
    most: float | None = None
    least: float | None = None

    def __str__(self) -> str:
        ends = (("at most", self.most), ("at least", self.least))
        return f"{self.figure} {' and '.join(f'{word} {end:.12g}' for word, end in ends if end is not None)}"

    def missed_by(self, value: float) -> float:
        """Return how far a value is from the goal, in the figure's unit; 0 if it is reached.

        >>> Goal(Figure("evictions"), most=2).missed_by(5)
        3
        """
        over = value - self.most if self.most is not None else 0.0
        under = self.least - value if self.least is not None else 0.0
        return max(over, under, 0)


def figure_of(written: Json) -> Figure:
    """Return the figure that an experiment's file names."""
    return Figure(written["figure"], written.get("queue", ""), written.get("resource", ""))


def goal_of(written: Json) -> Goal:
    """Return the goal that an experiment's file names; amounts may be quantities.

    >>> str(goal_of({"figure": "deserved", "queue": "a", "resource": "cpu", "at_least": "20"}))
    'deserved cpu of a at least 20000'
    """
    figure = figure_of(written)
    return Goal(figure, _end(figure, written.get("at_most")), _end(figure, written.get("at_least")))


def _end(figure: Figure, end: Any) -> float | None:
    if end is not None and figure.kind in WAITS:
        return duration(end)
    if end is None or not figure.resource or figure.kind in PARTS_OF_1:
        return None if end is None else float(end)
    return read_amounts({figure.resource: str(end)})[figure.resource]


# The measures


def _evictions(figure: Figure, result: Json) -> float:
    queues = {job["name"]: job["queue"] for cycle in result["cycles"] for job in cycle["podgroups"]}
    steps = (step for cycle in result["cycles"] for step in cycle["decisions"])
    evicted = [step for step in steps if step["op"] == "evict" and step["state"] == "committed"]
    return len([step for step in evicted if figure.queue in ("", queues.get(step.get("job") or ""))])


def _waiting_pods(figure: Figure, result: Json) -> float:
    return sum(task["status"] in _WAITING for job in _jobs(figure, result) for task in job["tasks"])


def _waiting_jobs(figure: Figure, result: Json) -> float:
    return sum(
        awaits_pods(job) or (any(task["status"] in _WAITING for task in job["tasks"]) and not job["ready"])
        for job in _jobs(figure, result)
    )


def _amount(part: str) -> Callable[[Figure, Json], float]:
    def measured(figure: Figure, result: Json) -> float:
        return sum(_of(queue, part, figure.resource) for queue in _queues(figure, result))

    return measured


def _share(figure: Figure, result: Json) -> float:
    return max((float(share_of(queue) or 0) for queue in _queues(figure, result)), default=0.0)


def _deficit(figure: Figure, result: Json) -> float:
    """Sum the deficits of the queues."""
    return sum(
        max(
            0.0,
            min(_of(queue, "deserved", figure.resource), _of(queue, "request", figure.resource))
            - _of(queue, "allocated", figure.resource),
        )
        for queue in _queues(figure, result)
    )


def _utilisation(figure: Figure, result: Json) -> float:
    """Return the used fraction of the nodes."""
    nodes = result["cycles"][-1]["nodes"]
    used, idle = (sum(node[part].get(figure.resource, 0.0) for node in nodes) for part in ("used", "idle"))
    return float(used / (used + idle)) if used + idle else 0.0


MEASURES: Mapping[str, Callable[[Figure, Json], float]] = {
    "evictions": _evictions,
    "waiting_pods": _waiting_pods,
    "waiting_jobs": _waiting_jobs,
    "deserved": _amount("deserved"),
    "allocated": _amount("allocated"),
    "deficit": _deficit,
    "share": _share,
    "utilisation": _utilisation,
}
"""Every kind of figure: committed evictions of all cycles; the others at the end of the last one."""


_QUEUES = frozenset({"at_end"})
PARTS: Mapping[str, frozenset[str]] = {
    **dict.fromkeys(("deserved", "allocated", "deficit", "share"), _QUEUES),
    **dict.fromkeys(("waiting_pods", "waiting_jobs"), frozenset({"podgroups"})),
    "evictions": frozenset({"decisions", "podgroups"}),
    "utilisation": frozenset({"nodes"}),
}
"""The parts of a cycle that each figure needs; see `scheduler_core.result.BRIEF_PARTS`."""


def _jobs(figure: Figure, result: Json) -> Iterator[Json]:
    return (job for job in result["cycles"][-1]["podgroups"] if figure.queue in ("", job["queue"]))


def _queues(figure: Figure, result: Json) -> Iterator[Json]:
    queues = result["cycles"][-1]["at_end"].get("queues") or ()
    if figure.queue:
        return (queue for queue in queues if queue["name"] == figure.queue)
    # The figures of a queue with children include theirs.
    return (queue for queue in queues if not queue.get("children"))


def _of(queue: Json, part: str, resource: str) -> float:
    amount = float((queue.get(part) or {}).get(resource, 0.0))
    return amount if amount < UNLIMITED else float("inf")
