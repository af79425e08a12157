"""The models of experiments."""

from planner.experiments.models.experiment import Experiment, ExperimentGroup

__all__ = ["Experiment", "ExperimentGroup"]
