"""Registers runs as work for the workers."""

from planner.runs.models import Run
from planner.runs.services.simulations import run_simulate
from planner.work.kinds import work_register


def register() -> None:
    """Let workers simulate runs."""
    work_register(Run, run_simulate)
