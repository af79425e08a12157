"""How does one queue of a scenario change?"""

from collections.abc import Mapping
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction

from planner.engine.queues import apply_spec, merge_patch, queue_spec, spec_problems
from planner.models import Queue, Scenario
from planner.rows import Problem
from planner.services.errors import Invalid
from planner.services.members import role_require
from planner.services.revisions import revision_lock, revision_raise


@transaction.atomic
def queue_update(
    *,
    scenario: Scenario,
    name: str,
    patch: Mapping[str, Any],
    expected_revision: int,
    user: User | None = None,
) -> Queue:
    """Apply an RFC 7396 merge patch in CRD spelling to the queue `name`.

    Every changed field becomes a Change of the new revision; a patch that changes nothing keeps the revision.
    `scenario` is fresh afterwards.

    Raises RoleTooLow, Queue.DoesNotExist, StaleRevision when the scenario is not at `expected_revision`, and
    Invalid with every problem; then nothing was saved.
    """
    role_require(user=user, workspace=scenario.workspace)
    revision_lock(scenario=scenario, expected=expected_revision)
    queue = scenario.queues.get(name=name)
    before = queue_spec(queue)
    after = merge_patch(before, patch)
    if problems := [*spec_problems(name, after), *_tree_problems(queue, after)]:
        raise Invalid(problems)
    apply_spec(queue, after)
    queue.save()
    now = queue_spec(queue)
    changes = {
        f"queues.{name}.{field}": (before[field], now[field]) for field in now if now[field] != before[field]
    }
    revision_raise(scenario=scenario, user=user, changes=changes)
    return queue


def _tree_problems(queue: Queue, spec: Mapping[str, Any]) -> list[Problem]:
    parent, name = spec.get("parent"), queue.name
    if spec.get("name", name) != name:
        return [_refusal(queue, "name", "name_fixed", "A queue keeps its name here.", spec.get("name"))]
    if not isinstance(parent, str) or parent in ("", "root", queue.parent):
        return []
    parents = dict(queue.scenario.queues.values_list("name", "parent"))
    if parent not in parents:
        return [_refusal(queue, "parent", "parent_missing", f"There is no queue {parent!r}.", parent)]
    if name in _ancestry(parent, parents):
        return [
            _refusal(queue, "parent", "parent_cycle", f"{parent!r} is {name!r} or lies below it.", parent)
        ]
    return []


def _ancestry(name: str, parents: Mapping[str, str]) -> list[str]:
    """Return `name` and the queues above it; a circle among them ends the way up."""
    way: list[str] = []
    while name in parents and name not in way:
        way.append(name)
        name = parents[name]
    return way


def _refusal(queue: Queue, field: str, rule: str, message: str, actual: Any) -> Problem:
    return Problem(
        rule,
        "error",
        message,
        path=f"queues.{queue.name}.{field}",
        queue=queue.name,
        field=field,
        actual=actual,
    )
