"""Experiments and their groups of cells, which hold the results."""

from django.conf import settings
from django.db import models

from planner.accounts.models.workspace import Identified, Workspace
from planner.clusters.models.snapshot import Blob
from planner.scenarios.models.scenario import Scenario
from planner.work.models.work import Work

_FOUND = {"found": "goals reached", "impossible": "goals out of reach", "undecided": "undecided"}
"""The words for the result of a search in lists, by the status of its verdict."""


class Experiment(Identified):
    """A sweep or a search over settings of a scenario's revision. Its cells are in its groups."""

    class Kind(models.TextChoices):
        """Whether it measures all cells or searches for the cheapest that reaches goals."""

        SWEEP = "sweep", "Sweep"
        SEARCH = "search", "Search"

    class State(models.TextChoices):
        """It runs until all of its groups have ended or the search is decided."""

        RUNNING = "running", "Running"
        SUCCEEDED = "succeeded", "Succeeded"
        CANCELLED = "cancelled", "Cancelled"

    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="experiments")
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="experiments"
    )
    scenario = models.ForeignKey(Scenario, on_delete=models.CASCADE, related_name="experiments")
    scenario_revision = models.PositiveIntegerField()
    input = models.ForeignKey(
        Blob, on_delete=models.PROTECT, related_name="experiments", help_text="The scenario document."
    )
    workload = models.ForeignKey(
        Blob,
        null=True,
        on_delete=models.PROTECT,
        related_name="experiments_of_trace",
        help_text="The text of the trace under which its cells are forecasts; null: runs, or patterns.",
    )

    name = models.CharField(max_length=253)
    kind = models.CharField(max_length=10, choices=Kind.choices)
    written = models.JSONField(help_text="The document of the experiment, as it was written.")
    axes = models.JSONField(help_text="The settings with their levels, see planning.experiments.space.")
    grid_size = models.PositiveBigIntegerField(help_text="The number of combinations.")
    planned = models.PositiveIntegerField(help_text="The largest number of combinations that are simulated.")

    state = models.CharField(max_length=10, choices=State.choices, default=State.RUNNING)
    verdict = models.JSONField(
        default=dict, help_text="Of a search: its status, and the proposed cell; empty until then."
    )
    engine_version = models.CharField(max_length=60)
    created = models.DateTimeField(auto_now_add=True)
    finished = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-created"]
        indexes = [models.Index(fields=["state"], name="experiments_going_on")]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(kind__in=["sweep", "search"]), name="experiment_kind_is_known"
            ),
            models.CheckConstraint(
                condition=models.Q(state__in=["running", "succeeded", "cancelled"]),
                name="experiment_state_is_known",
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def is_of_forecasts(self) -> bool:
        """Whether its cells are forecasts instead of runs."""
        return "forecast" in self.written

    @property
    def is_over(self) -> bool:
        """Whether it has ended."""
        return self.state != self.State.RUNNING

    @property
    def found(self) -> str:
        """The result of a search, in words; empty until then, and for a sweep."""
        return _FOUND.get(self.verdict.get("status", ""), "")


class ExperimentGroup(Work):
    """Cells of an experiment that one worker measures one after the other.

    `measured` holds an entry for each of the first cells (see planning.experiments.outcomes), so that the
    next attempt continues with the first cell without one.
    """

    experiment = models.ForeignKey(Experiment, on_delete=models.CASCADE, related_name="groups")
    number = models.IntegerField(
        help_text="Its place among the groups; -1: an earlier experiment had measured its cells; -2: it"
        " verifies the proposal of a search."
    )
    cells = models.JSONField(help_text="For each cell the level of each setting.")
    measured = models.JSONField(default=list, help_text="The results of the first cells.")

    class Meta(Work.Meta):
        verbose_name = "group of cells"
        ordering = ["number"]
        constraints = [
            *Work.Meta.constraints,
            models.UniqueConstraint(fields=["experiment", "number"], name="group_once_an_experiment"),
        ]
