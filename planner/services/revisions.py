"""Did this edit see the present revision, and what did it change?"""

from collections.abc import Mapping
from typing import Any

from django.contrib.auth.models import User
from django.utils import timezone

from planner.models import Change, Scenario
from planner.services.errors import StaleRevision


def revision_lock(*, scenario: Scenario, expected: int) -> None:
    """Hold the scenario until the transaction ends, or raise StaleRevision; `scenario` is fresh afterwards.

    Two edits that saw the same revision cannot both go on: the second one waits here, and then is stale.
    """
    present = Scenario.objects.select_for_update().get(pk=scenario.pk)
    scenario.revision, scenario.conf_text = present.revision, present.conf_text
    if present.revision != expected:
        raise StaleRevision(expected=expected, current=present.revision)


def revision_raise(*, scenario: Scenario, user: User | None, changes: Mapping[str, tuple[Any, Any]]) -> None:
    """Keep `changes` (path to before and after) as one new revision; without changes there is none."""
    if not changes:
        return
    scenario.revision += 1
    scenario.updated = timezone.now()
    scenario.save(update_fields=["revision", "updated"])
    Change.objects.bulk_create(
        Change(
            scenario=scenario, revision=scenario.revision, user=user, path=path, before=before, after=after
        )
        for path, (before, after) in changes.items()
    )
