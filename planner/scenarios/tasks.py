"""Registers rebases as work for the workers."""

from planner.scenarios.models import Rebase
from planner.scenarios.services.rebases import rebase_make
from planner.work.kinds import work_register


def register() -> None:
    """Let workers make rebases."""
    work_register(Rebase, rebase_make)
