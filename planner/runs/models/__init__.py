"""The models of runs."""

from planner.runs.models.link import PublicLink
from planner.runs.models.outcome import JobOutcome, Outcome, QueueOutcome, Victim
from planner.runs.models.run import Run
from planner.runs.models.trace import Trace

__all__ = ["JobOutcome", "Outcome", "PublicLink", "QueueOutcome", "Run", "Trace", "Victim"]
