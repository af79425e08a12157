"""Experiments and their progress."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import QuerySet
from django.utils import timezone

from planner.accounts.models import User
from planner.accounts.selectors.workspaces import visible
from planner.experiments.models import Experiment, ExperimentGroup
from planner.scenarios.models import Scenario

State = ExperimentGroup.State
SHARED = -1
"""The number of the group with cells that an earlier experiment measured."""
VERIFYING = -2
"""The number of the group that verifies the proposal of a search under unseen workloads."""


def experiments(user: User) -> QuerySet[Experiment]:
    """Return the experiments that an account may see, newest first (1 query)."""
    present = Experiment.objects.filter(scenario__removed=None)
    return visible(present.select_related("workspace", "scenario", "owner"), user)


def get_experiment(user: User, experiment_id: UUID) -> Experiment:
    """Return an experiment with its scenario, or raise Experiment.DoesNotExist (1 query)."""
    return experiments(user).get(pk=experiment_id)


def scenario_experiments(scenario: Scenario, limit: int = 20) -> QuerySet[Experiment]:
    """Return the newest experiments of a scenario (1 query)."""
    return Experiment.objects.filter(scenario=scenario).order_by("-created")[:limit]


@dataclass(frozen=True)
class Progress:
    """The progress of an experiment.

    Attributes
    ----------
    measured : int
        Cells with an outcome, including those of an earlier experiment.
    shared : int
        Cells with an outcome from an earlier experiment.
    planned : int
        The most cells that will be simulated; a search may end earlier.
    seconds_left : float or None
        Estimated remaining time; None before the first outcome, and at the end.
    workers : int
        Workers that measure it.
    verifies : bool
        Whether the proposal of a search is being verified under unseen workloads.

    """

    measured: int
    shared: int
    planned: int
    seconds_left: float | None
    workers: int
    verifies: bool = False

    @property
    def share(self) -> float:
        """Return the finished fraction of 1."""
        return self.measured / self.planned if self.planned else 1.0


def progress_of(experiment: Experiment, groups: Sequence[ExperimentGroup] | None = None) -> Progress:
    """Return the progress of an experiment (1 query, none if its groups are given)."""
    every = list(experiment.groups.all()) if groups is None else groups
    parts = [group for group in every if group.number != VERIFYING]
    shared = sum(len(group.measured) for group in parts if group.number == SHARED)
    measured = sum(len(group.measured) for group in parts)
    begun = min((group.started for group in parts if group.started), default=None)
    left = None if experiment.is_over else _left(begun, measured - shared, experiment.planned - measured)
    running = sum(group.state == State.RUNNING for group in every)
    return Progress(measured, shared, experiment.planned, left, running, len(every) > len(parts))


def _left(begun: datetime | None, done: int, rest: int) -> float | None:
    """Return the remaining time at the average pace since the start."""
    if begun is None or not done:
        return None
    return (timezone.now() - begun).total_seconds() / done * rest
