"""Names, notes, tags and archiving of scenarios and runs."""

from typing import Any, TypedDict, TypeVar, Unpack

from django.db import transaction
from django.utils import timezone

from planner.accounts.models import Event, User
from planner.accounts.services.events import event_note
from planner.accounts.services.members import role_require
from planner.errors import Invalid
from planner.rules import row_lock
from planner.runs.models import Run
from planner.scenarios.models import Scenario
from planner.scenarios.selectors.scenarios import locked_scenario
from planning.labels import label_problems

Labelled = TypeVar("Labelled", Scenario, Run)


class Labels(TypedDict, total=False):
    """Labels of a scenario or run; only given fields change."""

    name: str
    note: str
    tags: list[str]
    archived: bool


@transaction.atomic
def label(*, thing: Labelled, user: User | None, **labels: Unpack[Labels]) -> Labelled:
    """Store the given labels, without a new revision. A run may be without a name.

    The workspace's history keeps the former name of a scenario.

    Raises RoleTooLow, Gone, and Invalid with every problem; then nothing was saved.
    """
    role_require(user=user, workspace=thing.workspace)
    locked_scenario(thing if isinstance(thing, Scenario) else thing.scenario)
    if isinstance(thing, Run):
        row_lock(thing)
    if problems := label_problems(labels, name_required=isinstance(thing, Scenario)):
        raise Invalid(problems)
    kept: dict[str, Any] = {**labels}
    if "name" in labels:
        kept["name"] = labels["name"].strip()
    if "tags" in labels:
        kept["tags"] = sorted(set(labels["tags"]))
    if "archived" in labels:
        kept["archived"] = (thing.archived or timezone.now()) if labels["archived"] else None
    if isinstance(thing, Scenario) and kept.get("name", thing.name) != thing.name:
        event_note(
            workspace=thing.workspace,
            user=user,
            kind=Event.Kind.SCENARIO,
            action="renamed",
            subject=kept["name"],
            before=thing.name,
            after=kept["name"],
        )
    for field, value in kept.items():
        setattr(thing, field, value)
    thing.save(update_fields=list(kept))
    return thing
