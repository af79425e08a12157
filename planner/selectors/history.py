"""What happened to a scenario since somebody looked?"""

from collections.abc import Iterable, Mapping
from typing import Any

from planner.models import Change, Scenario
from planner.selectors.scenarios import changes


def changes_since(scenario: Scenario, revision: int) -> list[Change]:
    """Return the changes made after a revision, oldest first (1 query)."""
    return list(changes(scenario).filter(revision__gt=revision).order_by("revision", "kind", "key", "field"))


def as_before(present: Mapping[str, Any], later: Iterable[Change], prefix: str) -> dict[str, Any]:
    """Return the fields of an object as they were before the changes `later`, given oldest first."""
    before = dict(present)
    for change in reversed(list(later)):
        field = change.path.removeprefix(prefix)
        # Names may hold dots: a change of queue `a.b` begins like one of `a`, and names no field of it.
        if change.path.startswith(prefix) and field in before:
            before[field] = change.before
    return before
