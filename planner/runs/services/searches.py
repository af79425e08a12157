"""Queue searches about a run, and apply a change that a search found."""

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from django.db import transaction

from planner.accounts.models import User
from planner.accounts.services.members import role_require
from planner.errors import Invalid
from planner.rules import row_lock
from planner.runs.models import Run
from planner.runs.selectors.searches import fitting_of, search_of
from planner.scenarios.models import Scenario
from planner.scenarios.selectors.scenarios import locked_scenario
from planner.scenarios.services.branches import scenario_branch
from planner.scenarios.services.objects import objects_write
from planner.scenarios.services.queues import queue_update
from planner.scenarios.services.scenarios import conf_update
from planner.work.lifecycle import work_enqueue
from planning.fitting import Probe, probe_problems
from planning.search import changed_objects, conf_text

State = Run.State


def question_create(*, run: Run, find: Callable[[], Run | None], user: User | None, **question: Any) -> Run:
    """Return the run that answers a question about `run`; queue it unless it is queued, running or done.

    Call it in a transaction: `find` looks for an earlier search once the run is locked. `question` holds the
    fields of `Run` that say what is searched.
    """
    locked_scenario(run.scenario)
    row_lock(run)
    present = find()
    if present is not None and present.state not in (State.FAILED, State.CANCELLED):
        return present
    answering = Run(
        workspace=run.workspace,
        scenario=run.scenario,
        scenario_revision=run.scenario_revision,
        owner=user,
        options=run.options,
        input_id=run.input_id,
        explains=run,
        **question,
    )
    return work_enqueue(answering)


@transaction.atomic
def search_create(*, run: Run, job: str, user: User | None = None) -> Run:
    """Queue a search for what would unblock a job of a run; see `question_create`."""
    role_require(user=user, workspace=run.workspace)
    return question_create(run=run, find=lambda: search_of(run, job), user=user, job=job)


@transaction.atomic
def fitting_create(*, run: Run, probe: Probe, user: User | None = None) -> Run:
    """Queue a search for the nodes that a pod fits on; see `question_create`.

    Raises RoleTooLow, and Invalid for an impossible pod.
    """
    role_require(user=user, workspace=run.workspace)
    queues = set(run.queue_outcomes.values_list("queue", flat=True))
    if problems := probe_problems(probe, queues):
        raise Invalid(problems)
    return question_create(run=run, find=lambda: fitting_of(run, probe), user=user, probe=asdict(probe))


@transaction.atomic
def change_apply(*, search: Run, number: int, user: User | None = None) -> Scenario:
    """Branch from the scenario at the run's revision and apply one of the changes that a search found.

    Raises IndexError when the search found no such change.
    """
    assert search.result is not None, "only a search with a result offers changes"
    change = search.result.document()["changes"][number]
    branch = scenario_branch(
        scenario=search.scenario,
        name=f"{search.scenario.name}: {search.job}, {change['id'].removeprefix('unblock.')}"[:253],
        revision=search.scenario_revision,
        user=user,
    )
    made = change["changes"]
    for one in made:
        branch.refresh_from_db()
        if one["kind"] == "queues":
            queue_update(
                scenario=branch,
                name=one["key"],
                patch=_patch(one["field"], one["after"]),
                expected_revision=branch.revision,
                user=user,
            )
        elif one["kind"] == "conf":
            text = conf_text(one["after"])
            conf_update(scenario=branch, text=text, expected_revision=branch.revision, user=user)
    branch.refresh_from_db()
    others = [one for one in made if one["kind"] not in ("queues", "conf")]
    if others:
        wanted = changed_objects(search.input.document(), others)
        objects_write(scenario=branch, wanted=wanted, expected_revision=branch.revision, user=user)
    branch.refresh_from_db()
    return branch


def _patch(field: str, value: Any) -> dict[str, Any]:
    """Return the merge patch that sets a field of a queue; `field` starts with the part of the object."""
    _part, *path = field.split(".")
    for name in reversed(path):
        value = {name: value}
    patch: dict[str, Any] = value
    return patch
