"""What differs between runs? Differences first, figure by figure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, Generic, TypeVar
from uuid import UUID

from django.db.models import F

from planner.accounts.models import User
from planner.runs.models import JobOutcome, QueueOutcome, Run, Victim
from planner.runs.models.outcome import DecisionState
from planner.runs.selectors.figures import TOP
from planner.runs.selectors.runs import run_counts, runs
from planner.runs.selectors.steps import decisions
from planning.rows import QueueFigures, RunCounts

FEWEST, MOST = 2, 6
"""How many runs stand side by side."""

_PLACING = ("bind", "pipeline", "unpipeline")

Held = TypeVar("Held")


@dataclass(frozen=True)
class JobFigures:
    """What a run made of one job."""

    queue: str
    pods: int
    pending: int
    ready: bool
    phase: str
    gate: str


@dataclass(frozen=True)
class VictimFigures:
    """An eviction that a run committed."""

    job: str
    queue: str
    for_job: str
    for_queue: str
    action: str
    ran_seconds: float | None


@dataclass(frozen=True)
class Placement:
    """Where a run puts a pod; `op` is bind, or pipeline when the pod still waits for room there."""

    node: str
    op: str


@dataclass(frozen=True)
class Line(Generic[Held]):
    """One thing under its name, with what each run made of it; None where a run has no such thing."""

    name: str
    held: tuple[Held | None, ...]

    @property
    def differs(self) -> bool:
        """Did two runs not make the same of it?"""
        return any(held != self.held[0] for held in self.held)


@dataclass(frozen=True)
class Lines(Generic[Held]):
    """Every name that any run knows, what differs first, then by name."""

    rows: Sequence[Line[Held]]

    @cached_property
    def differing(self) -> Sequence[Line[Held]]:
        """The names under which runs differ."""
        return [row for row in self.rows if row.differs]


@dataclass(frozen=True)
class VictimChange:
    """The victims of a run beside those of the first one, in numbers of pods."""

    new: int
    gone: int
    same: int


@dataclass(frozen=True)
class Head:
    """How a run came off as a whole; `work_lost` in pod-seconds."""

    run: Run
    counts: RunCounts
    victims: VictimChange
    work_lost: float


class NotComparable(Exception):
    """These are not two to six runs; the message says why."""


class Comparison:
    """Runs side by side; each part is read when it is asked for."""

    def __init__(self, compared: Sequence[Run]) -> None:
        self.runs = compared
        self._outcomes = [run.outcome_id for run in compared]

    @cached_property
    def heads(self) -> list[Head]:
        """How each run came off as a whole."""
        lost = self._work_lost()
        return [
            Head(run, run_counts(run), self._victim_change(place), lost[run.outcome_id])
            for place, run in enumerate(self.runs)
        ]

    @cached_property
    def queues(self) -> Lines[QueueFigures]:
        """What each run made of each queue."""
        names = [field.name for field in fields(QueueFigures)]
        rows: Any = QueueOutcome.objects.filter(outcome__in=self._outcomes).values("outcome_id", *names)
        return self._lines((row.pop("outcome_id"), row["queue"], QueueFigures(**row)) for row in rows)

    @cached_property
    def jobs(self) -> Lines[JobFigures]:
        """What each run made of each job."""
        rows: Any = JobOutcome.objects.filter(outcome__in=self._outcomes).values(
            "outcome_id", "job", "queue", "pods", "pending", "ready", "gate", phase=F("phase_after")
        )
        return self._lines((row.pop("outcome_id"), row.pop("job"), JobFigures(**row)) for row in rows)

    @cached_property
    def victims(self) -> Lines[VictimFigures]:
        """Whom each run evicted; a pod evicted twice stands here once, as it was last."""
        rows: Any = Victim.objects.filter(outcome__in=self._outcomes, state=DecisionState.COMMITTED).values(
            "outcome_id", "pod", "job", "queue", "for_job", "for_queue", "action", "ran_seconds"
        )
        lines = self._lines((row.pop("outcome_id"), row.pop("pod"), VictimFigures(**row)) for row in rows)
        return Lines(sorted(lines.rows, key=lambda line: all(line.held)))

    @cached_property
    def placements(self) -> Lines[Placement]:
        """Where each run puts the pods that it placed."""
        last = {
            (run.outcome_id, step.pod): step
            for run in self.runs
            for step in decisions(run)
            if step.op in _PLACING and not (step.op == "bind" and step.state == DecisionState.FAILED)
        }
        return self._lines(
            (outcome, pod, Placement(step.node, step.op))
            for (outcome, pod), step in last.items()
            if step.op != "unpipeline"
        )

    def _victim_change(self, place: int) -> VictimChange:
        pairs = [(bool(line.held[0]), bool(line.held[place])) for line in self.victims.rows]
        return VictimChange(
            new=pairs.count((False, True)), gone=pairs.count((True, False)), same=pairs.count((True, True))
        )

    def _work_lost(self) -> dict[UUID | None, float]:
        lost = dict.fromkeys(self._outcomes, 0.0)
        evicted = Victim.objects.filter(outcome__in=self._outcomes, state=DecisionState.COMMITTED)
        for outcome, seconds in evicted.values_list("outcome_id", "ran_seconds"):
            lost[outcome] += seconds or 0.0
        return lost

    def _lines(self, found: Iterable[tuple[UUID | None, str, Held]]) -> Lines[Held]:
        """Return what each run holds under each name."""
        held: dict[str, dict[UUID | None, Held]] = {}
        for outcome, name, value in found:
            held.setdefault(name, {})[outcome] = value
        lines = [Line(name, tuple(map(values.get, self._outcomes))) for name, values in held.items()]
        return Lines(sorted(lines, key=lambda line: (not line.differs, line.name)))


def asked_runs(texts: Iterable[str]) -> list[UUID]:
    """Return the ids that ``runs=a,b`` or ``runs=a&runs=b`` names, each once, or raise NotComparable."""
    names = dict.fromkeys(name for text in texts for name in text.replace(" ", "").split(",") if name)
    try:
        ids = [UUID(name) for name in names]
    except ValueError:
        raise NotComparable("`runs` takes run ids, separated by commas.") from None
    if not FEWEST <= len(ids) <= MOST:
        raise NotComparable(f"Choose {FEWEST} to {MOST} runs, not {len(ids)}.")
    return ids


def shown_queues(
    lines: Lines[QueueFigures], *, containing: str = "", everything: bool = False
) -> list[Line[QueueFigures]]:
    """Return the queues whose share differs most, then the others by name; all by name when asked for.

    Queues that take no part in any run, and root, which stands for the whole cluster, are left out unless all
    are asked for.
    """
    wanted = containing.casefold()
    matching = [line for line in lines.rows if wanted in line.name.casefold()]
    if everything:
        return sorted(matching, key=lambda line: line.name)
    taking_part = [
        line
        for line in matching
        if line.name != "root" and any(held and held.in_session for held in line.held)
    ]
    return sorted(taking_part, key=lambda line: (not line.differs, -_spread(line), line.name))[:TOP]


def _spread(line: Line[QueueFigures]) -> float:
    """Return how far the shares of a queue lie apart."""
    shares = [(held.share if held else None) or 0.0 for held in line.held]
    return max(shares) - min(shares)


def compared_runs(user: User, asked: Sequence[UUID]) -> list[Run]:
    """Return the runs asked for, in that order, with their inputs; without those of other workspaces."""
    found = {run.pk: run for run in runs(user).select_related("input").filter(pk__in=asked)}
    return [found[run] for run in dict.fromkeys(asked) if run in found]
