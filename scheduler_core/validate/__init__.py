"""Validation of scenarios: errors that prevent a simulation, and other findings."""

from scheduler_core.problem import Problem, Severity
from scheduler_core.validate.scenario import Inspection, problems

__all__ = ["Inspection", "Problem", "Severity", "problems"]
