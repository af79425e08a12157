"""The models of background work."""

from planner.work.models.tally import Tally
from planner.work.models.work import Work
from planner.work.models.worker import Worker

__all__ = ["Tally", "Work", "Worker"]
