"""Which long lists does a run have, and how is each read, filtered and grouped, by pages and calls alike?"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django_filters import FilterSet

from planner.runs.models import Run
from planner.runs.selectors.filters import DecisionFilter, JobOutcomeFilter, VictimFilter
from planner.runs.selectors.groups import (
    DECISION_GROUPS,
    JOB_GROUPS,
    VICTIM_GROUPS,
    Group,
    decision_groups,
    job_groups,
    victim_groups,
)
from planner.runs.selectors.runs import job_outcomes, victims
from planner.runs.selectors.steps import decisions


@dataclass(frozen=True)
class RunList:
    """A list of a run: where its rows come from, what filters them, and by which fields they are grouped."""

    rows_of: Callable[[Run], Any]
    filters: type[FilterSet]
    groups: Sequence[str]
    grouped: Callable[[Any, str], list[Group]]


LISTS: Mapping[str, RunList] = {
    "jobs": RunList(job_outcomes, JobOutcomeFilter, JOB_GROUPS, job_groups),
    "victims": RunList(victims, VictimFilter, VICTIM_GROUPS, victim_groups),
    "decisions": RunList(decisions, DecisionFilter, DECISION_GROUPS, decision_groups),
}
