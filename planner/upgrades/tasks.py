"""How does the impact of an upgrade reach a worker?"""

from django.db import transaction

from planner.accounts.models import User
from planner.runs.models import Run
from planner.upgrades.services import impact_create
from planner.work.tasks import notify_workers


def submit_impact(*, run: Run, old: str, new: str, user: User | None = None) -> Run:
    """Queue what an upgrade of Volcano changes for a run's input, unless it is known, and notify a worker."""
    impact, is_new = impact_create(run=run, old=old, new=new, user=user)
    if is_new:
        transaction.on_commit(notify_workers)
    return impact
