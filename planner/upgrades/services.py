"""How is the impact of an upgrade requested?"""

from django.db import transaction

from planner.accounts.models import User
from planner.accounts.services.members import role_require
from planner.errors import Invalid
from planner.runs.models import Run
from planner.upgrades.selectors import impact_of
from planning.releases import release_problems

State = Run.State


@transaction.atomic
def impact_create(*, run: Run, old: str, new: str, user: User | None = None) -> tuple[Run, bool]:
    """Queue what an upgrade changes for the input of a run, unless it is queued, running or known.

    Return it, and whether it is new. Raises RoleTooLow, and Invalid for a name that is no version.
    Interfaces call `planner.work.tasks.submit_impact`.
    """
    role_require(user=user, workspace=run.workspace)
    if problems := [*release_problems(old, "from"), *release_problems(new, "to")]:
        raise Invalid(problems)
    Run.objects.select_for_update().get(pk=run.pk)
    present = impact_of(run, old, new)
    if present is not None and present.state not in (State.FAILED, State.CANCELLED):
        return present, False
    impact = Run.objects.create(
        workspace=run.workspace,
        scenario=run.scenario,
        scenario_revision=run.scenario_revision,
        owner=user,
        options=run.options,
        input_id=run.input_id,
        explains=run,
        old_release=old,
        new_release=new,
    )
    return impact, True
