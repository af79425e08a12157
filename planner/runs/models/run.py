"""Runs: simulations with their frozen input and their result."""

import json

from django.db import models
from django.db.models import QuerySet

from planner.clusters.models.snapshot import Blob
from planner.runs.models.outcome import JobOutcome, Outcome, QueueOutcome, Victim
from planner.runs.models.trace import Trace
from planner.scenarios.models.scenario import Scenario
from planner.work.models.work import Work


class Run(Work):
    """One execution of a scenario's revision over a frozen input."""

    scenario = models.ForeignKey(Scenario, on_delete=models.CASCADE, related_name="runs")
    scenario_revision = models.PositiveIntegerField()
    name = models.CharField(max_length=253, blank=True, db_default="", help_text="Empty: none was given.")
    note = models.TextField(blank=True, db_default="", help_text="Notes of its users, as plain text.")
    tags = models.JSONField(default=list, db_default=[], help_text="Names by which it is found again.")
    archived = models.DateTimeField(null=True, help_text="Since when it is left out of lists.")
    options = models.JSONField(default=dict, help_text="`cycles` and `explain` as requested.")
    explains = models.ForeignKey(
        "self",
        null=True,
        on_delete=models.CASCADE,
        related_name="searches",
        help_text="Set on a search about that run: what would unblock a job, what an upgrade changes, "
        "or where a pod fits; "
        "its input is that run's. Set on its baseline, too.",
    )
    is_baseline = models.BooleanField(
        default=False,
        db_default=False,
        help_text="Whether it simulates the unchanged snapshot, for runs to be compared with.",
    )
    job = models.CharField(max_length=510, blank=True, help_text="The job that a search is about.")
    old_release = models.CharField(
        max_length=40, blank=True, db_default="", help_text="Of an upgrade's impact: the release before it."
    )
    new_release = models.CharField(
        max_length=40, blank=True, db_default="", help_text="Of an upgrade's impact: the release after it."
    )
    probe = models.JSONField(null=True, help_text="The pod to place, see planning.fitting.")
    input = models.ForeignKey(Blob, on_delete=models.PROTECT, related_name="runs_reading")
    result = models.ForeignKey(Blob, null=True, on_delete=models.PROTECT, related_name="runs_writing")
    notes = models.JSONField(
        default=list, help_text="What the run leaves out and what it assumes, one sentence each."
    )
    outcome = models.ForeignKey(
        Outcome,
        null=True,
        on_delete=models.PROTECT,
        related_name="runs",
        help_text="The result in figures; null until the run succeeded, and for a search.",
    )
    engine_version = models.CharField(max_length=60, blank=True)
    found_so_far = models.JSONField(null=True, help_text="The findings of a search that has no result yet.")
    timings = models.JSONField(default=dict, help_text="Measured times, in milliseconds.")

    @property
    def is_of_snapshot(self) -> bool:
        """Whether its scenario was not edited yet, and is no branch of another one."""
        return self.scenario_revision == 1 and self.scenario.parent_id is None

    @property
    def question(self) -> dict[str, str]:
        """The question that it answers about the input besides simulating it; empty for a run."""
        if self.new_release:
            return {"from": self.old_release, "to": self.new_release}
        if self.probe is not None:
            return {"probe": json.dumps(self.probe)}
        return {"job": self.job} if self.job else {}

    @property
    def queue_outcomes(self) -> QuerySet[QueueOutcome]:
        """Its outcome for each queue, in tree order."""
        return QueueOutcome.objects.filter(outcome=self.outcome_id)

    @property
    def job_outcomes(self) -> QuerySet[JobOutcome]:
        """Its outcome for each job, in the result's order."""
        return JobOutcome.objects.filter(outcome=self.outcome_id)

    @property
    def victims(self) -> QuerySet[Victim]:
        """The pods that it selected for eviction, in that order."""
        return Victim.objects.filter(outcome=self.outcome_id)

    @property
    def traces(self) -> QuerySet[Trace]:
        """The packed parts of its decisions and their reasons."""
        return Trace.objects.filter(outcome=self.outcome_id)
