"""The scenarios and runs of the start page, with their changes and verdicts."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db.models import OuterRef, QuerySet, Subquery

from planner.accounts.models import User, Workspace
from planner.runs.models import Run
from planner.runs.selectors.runs import run_counts, runs
from planner.runs.selectors.verdicts import verdicts_of
from planner.scenarios.models import Change, Scenario
from planner.scenarios.selectors.scenarios import scenarios
from planner.web.selectors.words import tagged
from planning.change_descriptions import change_text, net_changes
from planning.rows import RunCounts
from planning.verdict import Verdict

NAMED = 2
"""How many changes are listed; the others are counted."""
MOST_REVISIONS = 100
"""For scenarios with more revisions, a list does not calculate the changes."""


@dataclass(frozen=True)
class RunLine:
    """A run in a list: the changes of its scenario, and its verdict."""

    run: Run
    changed: Sequence[str]
    more: int
    counts: RunCounts | None
    verdict: Verdict | None


@dataclass(frozen=True)
class ScenarioLine:
    """A scenario in the tree of branches: its depth, its changes, and its newest run."""

    scenario: Scenario
    depth: int
    changed: Sequence[str]
    more: int
    last: RunLine | None


def scenario_tree(
    user: User, workspace: Workspace | None, *, archived: bool = False, tag: str = ""
) -> list[tuple[UUID, int]]:
    """Return the scenarios of a workspace as a tree, last changed first, each with its depth (1 query)."""
    found = scenarios(user).filter(workspace=workspace, archived__isnull=not archived)
    rows = tagged(found, tag) if tag else found
    return in_tree_order(rows.values_list("pk", "parent_id"))


def scenario_lines(user: User, branches: Sequence[tuple[UUID, int]]) -> list[ScenarioLine]:
    """Return some scenarios of the tree in its order (4 queries)."""
    newest = Run.objects.filter(scenario=OuterRef("pk"), explains=None).order_by("-created")
    found = scenarios(user).annotate(last_run=Subquery(newest.values("pk")[:1]))
    listed = found.in_bulk([pk for pk, _ in branches])
    newest_of: dict[UUID, UUID | None] = {pk: scenario.last_run for pk, scenario in listed.items()}
    last = {run.pk: run for run in runs(user).filter(pk__in=filter(None, newest_of.values()))}
    history, verdicts = _History(listed.values()), verdicts_of(last.values())
    return [
        ScenarioLine(
            scenario,
            depth,
            *history.of(scenario.pk, scenario.revision),
            _line(run, history, verdicts)
            if (newest_id := newest_of[scenario.pk]) and (run := last.get(newest_id))
            else None,
        )
        for pk, depth in branches
        if (scenario := listed.get(pk))
    ]


def run_lines(user: User, workspace: Workspace | None, *, limit: int = 12) -> list[RunLine]:
    """Return the newest runs of a workspace (3 queries)."""
    return _lines(runs(user).filter(workspace=workspace, archived=None)[:limit])


def scenario_runs(scenario: Scenario, limit: int = 12) -> list[RunLine]:
    """Return the newest runs of a scenario (3 queries)."""
    found = scenario.runs.filter(explains=None).select_related("outcome", "scenario", "owner")
    return _lines(found.order_by("-created")[:limit])


def in_tree_order(listed: Iterable[tuple[UUID, UUID | None]]) -> list[tuple[UUID, int]]:
    """Return scenarios, given with their parents, each below its parent and with its depth.

    Otherwise they keep their order. A branch whose parent is not listed is at the top level.
    """
    parents = dict(listed)
    below: dict[UUID | None, list[UUID]] = {}
    for scenario, parent in parents.items():
        below.setdefault(parent if parent in parents else None, []).append(scenario)
    order: list[tuple[UUID, int]] = []
    waiting = [(scenario, 0) for scenario in reversed(below.get(None, []))]
    while waiting:
        scenario, depth = waiting.pop()
        order.append((scenario, depth))
        waiting.extend((branch, depth + 1) for branch in reversed(below.get(scenario, [])))
    return order


def _lines(found: QuerySet[Run]) -> list[RunLine]:
    listed = list(found)
    history, verdicts = (
        _History({run.scenario_id: run.scenario for run in listed}.values()),
        verdicts_of(listed),
    )
    return [_line(run, history, verdicts) for run in listed]


def _line(run: Run, history: "_History", verdicts: Mapping[UUID, Verdict]) -> RunLine:
    is_counted = run.outcome is not None and run.outcome.counts is not None
    changed = history.of(run.scenario_id, run.scenario_revision)
    verdict = verdicts.get(run.outcome_id) if run.outcome_id else None
    return RunLine(run, *changed, run_counts(run) if is_counted else None, verdict)


class _History:
    """The changes of some scenarios (1 query), to describe each revision."""

    def __init__(self, listed: Iterable[Scenario]) -> None:
        short = [row.pk for row in listed if 1 < row.revision <= MOST_REVISIONS]
        self._changes: dict[UUID, list[Change]] = {}
        for change in Change.objects.filter(scenario__in=short).order_by("revision", "kind", "key", "field"):
            self._changes.setdefault(change.scenario_id, []).append(change)

    def of(self, scenario: UUID, revision: int) -> tuple[list[str], int]:
        """Return the changes of a scenario up to a revision: the first few, and the number of others."""
        made = [change for change in self._changes.get(scenario, ()) if change.revision <= revision]
        sentences = [change_text(edit) for edit in net_changes(made)]
        return sentences[:NAMED], len(sentences[NAMED:])


def change_texts(run: Run) -> list[str]:
    """Return all changes of a run's scenario up to the run, in words (1 query)."""
    made = run.scenario.changes.filter(revision__lte=run.scenario_revision)
    return [change_text(edit) for edit in net_changes(made.order_by("revision", "kind", "key", "field"))]
