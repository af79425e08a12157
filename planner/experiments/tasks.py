"""Registers groups of cells as work for the workers."""

from django.conf import settings

from planner.experiments.models import ExperimentGroup
from planner.experiments.services.groups import group_measure
from planner.experiments.services.settling import experiments_settle
from planner.work.kinds import Chore, chore_register, work_register


def register() -> None:
    """Let workers measure groups of cells, and end the experiments whose last group was lost."""
    work_register(ExperimentGroup, group_measure, in_background=True)
    chore_register(Chore(experiments_settle, settings.RUN_SWEEP_SECONDS))
