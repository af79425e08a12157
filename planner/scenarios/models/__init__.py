"""The models of scenarios."""

from planner.scenarios.models.queue import Queue
from planner.scenarios.models.rebase import Rebase
from planner.scenarios.models.scenario import Change, ObjectChange, Scenario, ScenarioCopy

__all__ = ["Change", "ObjectChange", "Queue", "Rebase", "Scenario", "ScenarioCopy"]
