"""The changes of scenarios, and the revisions to undo and redo."""

from collections.abc import Iterable, Mapping
from typing import Any

from django.db.models import QuerySet

from planner.accounts.models import Workspace
from planner.scenarios.models import Change, Scenario

LAST_CHANGES = 10


def changes(scenario: Scenario) -> QuerySet[Change]:
    """Return the history of a scenario, newest first (1 query)."""
    return scenario.changes.all()


def last_changes(scenario: Scenario) -> QuerySet[Change]:
    """Return the newest changes, as many as are shown beside the queues (1 query)."""
    return changes(scenario)[:LAST_CHANGES]


def workspace_changes(workspace: Workspace) -> QuerySet[Change]:
    """Return the changes of all scenarios of a workspace, including removed ones, newest first (1 query)."""
    found = Change.objects.filter(scenario__workspace=workspace).select_related("scenario")
    return found.order_by("-created", "scenario", "-revision", "kind", "key", "field")


def changes_since(scenario: Scenario, revision: int) -> list[Change]:
    """Return the changes made after a revision, oldest first (1 query)."""
    return list(changes(scenario).filter(revision__gt=revision).order_by("revision", "kind", "key", "field"))


def as_before(present: Mapping[str, Any], later: Iterable[Change], prefix: str) -> dict[str, Any]:
    """Return the fields of an object before the changes `later`, given oldest first."""
    before = dict(present)
    for change in reversed(list(later)):
        field = change.path.removeprefix(prefix)
        # Names may contain dots: the path of queue `a.b` starts like that of `a`, but is no field of it.
        if change.path.startswith(prefix) and field in before:
            before[field] = change.before
    return before


def steps(scenario: Scenario) -> dict[str, int | None]:
    """Return the revisions that `undo` and `redo` would revert, None without one (1 query)."""
    done: list[int] = []
    taken_back: list[int] = []
    revisions = scenario.changes.order_by("revision").values_list("revision", "way").distinct()
    for revision, way in revisions:
        if way == Change.Way.UNDO:
            done.pop()
            taken_back.append(revision)
        elif way == Change.Way.REDO:
            taken_back.pop()
            done.append(revision)
        else:
            done.append(revision)
            taken_back.clear()
    return {
        Change.Way.UNDO: done[-1] if done else None,
        Change.Way.REDO: taken_back[-1] if taken_back else None,
    }
