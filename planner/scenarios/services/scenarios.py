"""Creation and removal of scenarios, and edits of their configuration and release."""

from typing import Any

from django.db import transaction
from django.utils import timezone

from planner.accounts.models import Event, User
from planner.accounts.services.events import event_note
from planner.accounts.services.members import role_require
from planner.clusters.models import Snapshot
from planner.errors import Gone, Invalid
from planner.experiments.models import Experiment
from planner.experiments.services.settling import experiment_cancel
from planner.rules import row_create
from planner.runs.models import Run
from planner.scenarios.models import Queue, Scenario
from planner.scenarios.selectors.scenarios import first_queues
from planner.scenarios.services.revisions import revision_lock, revision_raise
from planner.work.lifecycle import work_cancel
from planning.conf import conf_edited, conf_problems
from planning.releases import release_problems
from planning.states import CONF, RELEASE, Edit


def scenario_create(*, snapshot: Snapshot, name: str, owner: User | None = None) -> Scenario:
    """Create a scenario: the snapshot's queues become rows, its configuration a text to edit."""
    role_require(user=owner, workspace=snapshot.workspace)
    queues = first_queues(snapshot)
    with transaction.atomic():
        scenario = row_create(
            Scenario(
                workspace=snapshot.workspace,
                name=name,
                snapshot=snapshot,
                conf_text=snapshot.scheduler_conf,
                owner=owner,
            )
        )
        Queue.objects.bulk_create(Queue.of(scenario, queue) for queue in queues)
    return scenario


@transaction.atomic
def scenario_remove(*, scenario: Scenario, expected_revision: int, user: User | None = None) -> None:
    """Hide a scenario and its runs and stop them; its changes stay in the workspace's history."""
    try:
        revision_lock(scenario=scenario, expected=expected_revision, user=user)
    except Gone:
        return  # by another call at the same moment
    scenario.removed = timezone.now()
    scenario.save(update_fields=["removed"])
    for rows in (scenario.runs, scenario.forecasts, scenario.rebases):
        for work in rows.exclude(state__in=Run.OVER):
            work_cancel(work=work, user=user)
    for experiment in Experiment.objects.filter(scenario=scenario, state=Experiment.State.RUNNING):
        experiment_cancel(experiment=experiment, user=user)
    event_note(
        workspace=scenario.workspace,
        user=user,
        kind=Event.Kind.SCENARIO,
        action="removed",
        subject=scenario.name,
        before=f"revision {scenario.revision}",
    )


@transaction.atomic
def conf_update(
    *, scenario: Scenario, text: str, expected_revision: int, user: User | None = None
) -> Scenario:
    """Replace the scheduler configuration; return the scenario at its new revision."""
    revision_lock(scenario=scenario, expected=expected_revision, user=user)
    problems = conf_problems(text)
    if any(problem.is_error for problem in problems):
        raise Invalid(problems)
    return _replaced(scenario, CONF, "conf_text", text, user)


@transaction.atomic
def release_update(
    *, scenario: Scenario, name: str, expected_revision: int, user: User | None = None
) -> Scenario:
    """Select the release of Volcano, empty: the snapshot's; return the scenario at its new revision.

    Raises RoleTooLow, StaleRevision, and Invalid for a name that is not a version.
    """
    revision_lock(scenario=scenario, expected=expected_revision, user=user)
    if problems := release_problems(name):
        raise Invalid(problems)
    return _replaced(scenario, RELEASE, "release", name, user)


@transaction.atomic
def conf_patch(
    *, scenario: Scenario, operations: Any, expected_revision: int, user: User | None = None
) -> Scenario:
    """Edit the scheduler configuration by a JSON patch; untouched lines stay byte for byte.

    Raises as `conf_update` does, and Invalid for an invalid operation or one that the text does not allow.
    """
    revision_lock(scenario=scenario, expected=expected_revision, user=user)
    text, problems = conf_edited(scenario.conf_text, operations)
    if problems:
        raise Invalid(problems)
    return conf_update(scenario=scenario, text=text, expected_revision=expected_revision, user=user)


def _replaced(scenario: Scenario, kind: str, field: str, text: str, user: User | None) -> Scenario:
    """Store another text of a locked scenario as a new revision; the same text makes none."""
    before = getattr(scenario, field)
    if text != before:
        setattr(scenario, field, text)
        scenario.save(update_fields=[field])
        changes = [Edit(kind, before=before, after=text)]
        revision_raise(scenario=scenario, user=user, changes=changes)
    return scenario
