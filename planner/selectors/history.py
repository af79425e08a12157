"""What was an object at an older revision?"""

from collections.abc import Mapping
from typing import Any

from planner.models import Scenario


def fields_at(
    scenario: Scenario, revision: int, *, path: str, present: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the fields below `path` as they were at `revision`, given what they are at present (1 query).

    Changes are undone newest first, so what is left is what the oldest of them found.
    """
    fields = dict(present)
    for change in scenario.changes.filter(revision__gt=revision, path__startswith=f"{path}."):
        field = change.path.removeprefix(f"{path}.")
        if field in fields:
            fields[field] = change.before
    return fields


def conf_text_at(scenario: Scenario, revision: int) -> str:
    """Return the scheduler configuration as it was at `revision` (1 query)."""
    change = scenario.changes.filter(revision__gt=revision, path="conf").order_by("revision").first()
    return change.before if change else scenario.conf_text
