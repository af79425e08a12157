"""Requests for the impact of an upgrade."""

from django.db import transaction

from planner.accounts.models import User
from planner.accounts.services.members import role_require
from planner.errors import Invalid
from planner.runs.models import Run
from planner.runs.services.searches import question_create
from planner.upgrades.selectors import impact_of
from planning.releases import release_problems


@transaction.atomic
def impact_create(*, run: Run, old: str, new: str, user: User | None = None) -> Run:
    """Queue what an upgrade changes for the input of a run, see `question_create`.

    Raises RoleTooLow, and Invalid for a name that is no version.
    """
    role_require(user=user, workspace=run.workspace)
    if problems := [*release_problems(old, "from"), *release_problems(new, "to")]:
        raise Invalid(problems)
    return question_create(
        run=run, find=lambda: impact_of(run, old, new), user=user, old_release=old, new_release=new
    )
