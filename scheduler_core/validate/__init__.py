"""Can this scenario be simulated, and what in it would surprise its author?"""

from scheduler_core.problem import Problem, Severity
from scheduler_core.validate.scenario import Inspection, problems

__all__ = ["Inspection", "Problem", "Severity", "problems"]
