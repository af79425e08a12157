"""The differences between runs, differing rows first."""

from collections.abc import Iterable, Sequence
from dataclasses import fields
from functools import cached_property
from typing import Any
from uuid import UUID

from django.db.models import F

from planner.accounts.models import User
from planner.runs.models import JobOutcome, QueueOutcome, Run, Trace, Victim
from planner.runs.models.outcome import DecisionState
from planner.runs.selectors.comparison_rows import (
    Head,
    Held,
    JobFigures,
    Kinship,
    Line,
    Lines,
    VictimChange,
    VictimFigures,
)
from planner.runs.selectors.figures import with_dominant_share
from planner.runs.selectors.runs import run_counts, runs
from planner.runs.selectors.steps import decisions
from planner.scenarios.models import Scenario
from planning.rows import Placement, QueueFigures, placements_at_end, queues_with_children
from planning.rows.stored import NODES

FEWEST, MOST = 2, 6
"""How many runs can be compared."""
TOP = 30
"""How many queues are compared in charts and table unless all are requested."""

MADE_BY_VOLCANO = ("root", "default")
"""Queues of every cluster, which do not help to identify one."""


class NotComparable(Exception):
    """The ids do not name two to six runs; the message says why."""


class Comparison:
    """Compared runs; each part is read on first use."""

    def __init__(self, compared: Sequence[Run]) -> None:
        self.runs = compared
        self._outcomes = [run.outcome_id for run in compared]

    @cached_property
    def heads(self) -> list[Head]:
        """The totals of each run."""
        lost, unknown = self._work_lost()
        counts = [run_counts(run) for run in self.runs]
        return [
            Head(
                run=run,
                counts=counts[place],
                victims=self._victim_change(place),
                work_lost=lost[run.outcome_id],
                work_unknown=unknown[run.outcome_id],
                waiting_delta=counts[place].jobs_pending - counts[0].jobs_pending,
            )
            for place, run in enumerate(self.runs)
        ]

    @cached_property
    def queues(self) -> Lines[QueueFigures]:
        """The figures of each queue in each run; parents have the share of the queues below them."""
        names = [field.name for field in fields(QueueFigures)]
        found: Any = QueueOutcome.objects.filter(outcome__in=self._outcomes).values("outcome_id", *names)
        rows = [(row.pop("outcome_id"), QueueFigures(**row)) for row in found]
        parents = queues_with_children(row for _, row in rows)
        return self._lines(
            (outcome, row.queue, with_dominant_share(row) if row.queue in parents else row)
            for outcome, row in rows
        )

    @cached_property
    def jobs(self) -> Lines[JobFigures]:
        """The figures of each job in each run."""
        rows: Any = JobOutcome.objects.filter(outcome__in=self._outcomes).values(
            "outcome_id", "job", "queue", "pods", "pending", "ready", "gate", phase=F("phase_after")
        )
        return self._lines((row.pop("outcome_id"), row.pop("job"), JobFigures(**row)) for row in rows)

    @cached_property
    def victims(self) -> Lines[VictimFigures]:
        """The pods that each run evicted; a pod evicted twice is listed with its last eviction."""
        rows: Any = Victim.objects.filter(outcome__in=self._outcomes, state=DecisionState.COMMITTED).values(
            "outcome_id", "pod", "job", "queue", "for_job", "for_queue", "action", "ran_seconds"
        )
        lines = self._lines((row.pop("outcome_id"), row.pop("pod"), VictimFigures(**row)) for row in rows)
        return Lines(sorted(lines.rows, key=lambda line: all(line.held)))

    @cached_property
    def placements(self) -> Lines[Placement]:
        """Where each run places its pods."""
        return self._lines(
            (run.outcome_id, pod, place)
            for run in self.runs
            for pod, place in placements_at_end(decisions(run)).items()
        )

    @cached_property
    def kinship(self) -> Kinship:
        """The names that the clusters of the runs have in common (2 queries)."""
        queues: dict[UUID | None, set[str]] = {outcome: set() for outcome in self._outcomes if outcome}
        named = QueueOutcome.objects.filter(outcome__in=self._outcomes).exclude(queue__in=MADE_BY_VOLCANO)
        for outcome, queue in named.values_list("outcome_id", "queue"):
            queues[outcome].add(queue)
        parts = Trace.objects.filter(outcome__in=self._outcomes, part=NODES)
        nodes = [{node["name"] for node in part.payload()[-1]} for part in parts]
        return Kinship(*_common(queues.values()), *_common(nodes))

    @cached_property
    def related(self) -> bool:
        """Whether the runs are about one cluster: by their snapshots, otherwise by names."""
        snapshots = {run.scenario.snapshot_id for run in self.runs}
        return len(snapshots) == 1 or len(set(filter(None, self._outcomes))) < FEWEST or self.kinship.related

    def _victim_change(self, place: int) -> VictimChange:
        pairs = [(bool(line.held[0]), bool(line.held[place])) for line in self.victims.rows]
        return VictimChange(
            new=pairs.count((False, True)), gone=pairs.count((True, False)), same=pairs.count((True, True))
        )

    def _work_lost(self) -> tuple[dict[UUID | None, float], dict[UUID | None, int]]:
        """Return the known run time of the evicted pods, and the number of evictions of unknown run time."""
        lost, unknown = dict.fromkeys(self._outcomes, 0.0), dict.fromkeys(self._outcomes, 0)
        evicted = Victim.objects.filter(outcome__in=self._outcomes, state=DecisionState.COMMITTED)
        for outcome, seconds in evicted.values_list("outcome_id", "ran_seconds"):
            lost[outcome] += seconds or 0.0
            unknown[outcome] += seconds is None
        return lost, unknown

    def _lines(self, found: Iterable[tuple[UUID | None, str, Held]]) -> Lines[Held]:
        """Return the values of each name in all runs."""
        held: dict[str, dict[UUID | None, Held]] = {}
        for outcome, name, value in found:
            held.setdefault(name, {})[outcome] = value
        lines = [Line(name, tuple(map(values.get, self._outcomes))) for name, values in held.items()]
        return Lines(sorted(lines, key=lambda line: (not line.differs, line.name)))


def _common(sets: Iterable[set[str]]) -> tuple[int, int]:
    """Return the size of the smallest set, and of the intersection of all."""
    held = list(sets)
    return min(map(len, held), default=0), len(set.intersection(*held)) if held else 0


def run_ids(texts: Iterable[str]) -> list[UUID]:
    """Return the ids in ``runs=a,b`` or ``runs=a&runs=b`` without duplicates, or raise NotComparable."""
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
    """Return the queues whose share differs most, then the others by name; with `everything` all by name.

    Queues that take no part in any run, and root, which is the whole cluster, are left out unless
    `everything` is requested.
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
    """Return the difference between the largest and the smallest share of a queue."""
    shares = [(held.share if held else None) or 0.0 for held in line.held]
    return max(shares) - min(shares)


def baseline_first(runs: Iterable[Run]) -> list[Run]:
    """Return runs in the order to compare them: parents before their branches, older ones first."""
    compared = list(runs)
    parents = dict(
        Scenario.objects.filter(workspace__in={run.workspace_id for run in compared}).values_list(
            "pk", "parent"
        )
    )
    ours = {run.scenario_id for run in compared}

    def ancestors(scenario: UUID) -> int:
        """Return how many of the compared scenarios this one was branched from."""
        seen: set[UUID] = set()
        above = parents.get(scenario)
        while above and above not in seen:
            seen.add(above)
            above = parents.get(above)
        return len(seen & ours)

    return sorted(compared, key=lambda run: (ancestors(run.scenario_id), run.created, str(run.pk)))


def compared_runs(user: User, ids: Sequence[UUID]) -> list[Run]:
    """Return the runs that the account may see, in the order of `ids`, with their inputs."""
    found = {
        run.pk: run for run in runs(user).select_related("input").defer("input__packed").filter(pk__in=ids)
    }
    return [found[run] for run in dict.fromkeys(ids) if run in found]
