"""Rebases that a worker makes."""

from django.db import models

from planner.clusters.models.snapshot import Snapshot
from planner.scenarios.models.scenario import Scenario
from planner.work.models.work import Work


class Rebase(Work):
    """A branch on another snapshot that a worker makes, because two large snapshots have to be compared."""

    scenario = models.ForeignKey(Scenario, on_delete=models.CASCADE, related_name="rebases")
    revision = models.PositiveIntegerField(help_text="The scenario's revision that is rebased.")
    snapshot = models.ForeignKey(Snapshot, on_delete=models.CASCADE, related_name="rebases")
    name = models.CharField(max_length=253, help_text="Of the branch.")
    choices = models.JSONField(default=list, help_text="Kind, key, field and side of each decided conflict.")
    branch = models.ForeignKey(Scenario, null=True, on_delete=models.SET_NULL, related_name="rebases_made")
    problems = models.JSONField(default=list, help_text="Why there is no branch.")
