"""The long lists of a run, and how pages and API calls read, filter and group each of them."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, F, Q, QuerySet, Sum
from django_filters import FilterSet

from planner.runs.models import JobOutcome, Run, Victim
from planner.runs.models.outcome import DecisionState
from planner.runs.selectors.filters import DecisionFilter, JobOutcomeFilter, VictimFilter
from planner.runs.selectors.steps import Steps, decisions

JOB_GROUPS = ("gate", "queue", "resource", "phase")
VICTIM_GROUPS = ("queue", "for_queue", "job", "for_job", "node", "action", "state")
DECISION_GROUPS = ("action", "op", "job", "node", "state", "cycle")
_COLUMNS = {"phase": "phase_after"}


@dataclass(frozen=True)
class Group:
    """Rows with the same value of one field.

    `pods` are the pods of jobs, or the distinct pods of victims and decisions; `pending` the waiting pods of
    jobs; `work_lost_seconds` the run time of committed victims, except for `work_unknown` evictions whose
    run time is unknown. None where it does not apply.
    """

    value: str
    rows: int
    pods: int
    pending: int | None = None
    work_lost_seconds: float | None = None
    work_unknown: int | None = None


def job_groups(jobs: QuerySet[JobOutcome], by: str) -> list[Group]:
    """Return the groups of the jobs, most waiting pods first (1 query)."""
    column = F(_COLUMNS.get(by, by))
    rows = (
        jobs.order_by().values(value=column).annotate(rows=Count("pk"), all=Sum("pods"), wait=Sum("pending"))
    )
    found = [Group(row["value"], row["rows"], row["all"], pending=row["wait"]) for row in rows]
    return sorted(found, key=lambda group: (-(group.pending or 0), -group.rows, group.value))


def victim_groups(victims: QuerySet[Victim], by: str) -> list[Group]:
    """Return the groups of the victims, largest first (1 query)."""
    committed = Q(state=DecisionState.COMMITTED)
    lost = Sum("ran_seconds", filter=committed)
    unknown = Count("pk", filter=committed & Q(ran_seconds=None))
    rows = (
        victims.order_by()
        .values(value=F(by))
        .annotate(rows=Count("pk"), different=Count("pod", distinct=True), lost=lost, unknown=unknown)
    )
    found = [
        Group(
            row["value"],
            row["rows"],
            row["different"],
            work_lost_seconds=row["lost"] or 0.0,
            work_unknown=row["unknown"],
        )
        for row in rows
    ]
    return _largest_first(found)


def decision_groups(steps: Steps, by: str) -> list[Group]:
    """Return the groups of the decisions, largest first."""
    rows: defaultdict[str, int] = defaultdict(int)
    pods: defaultdict[str, set[str]] = defaultdict(set)
    for step in steps:
        value = str(getattr(step, by))
        rows[value] += 1
        pods[value].add(step.pod)
    return _largest_first([Group(value, count, len(pods[value] - {""})) for value, count in rows.items()])


def _largest_first(found: Sequence[Group]) -> list[Group]:
    return sorted(found, key=lambda group: (-group.rows, group.value))


@dataclass(frozen=True)
class RunList:
    """A list of a run: the source of its rows, its filters, and the fields to group by."""

    rows_of: Callable[[Run], Any]
    filters: type[FilterSet]
    groups: Sequence[str]
    grouped: Callable[[Any, str], list[Group]]


LISTS: Mapping[str, RunList] = {
    "jobs": RunList(lambda run: run.job_outcomes, JobOutcomeFilter, JOB_GROUPS, job_groups),
    "victims": RunList(lambda run: run.victims, VictimFilter, VICTIM_GROUPS, victim_groups),
    "decisions": RunList(decisions, DecisionFilter, DECISION_GROUPS, decision_groups),
}
