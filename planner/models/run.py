"""Where does a run stand? The row is the truth, a message is only a kick."""

from django.conf import settings
from django.db import models

from planner.models.scenario import Scenario
from planner.models.snapshot import Blob
from planner.models.workspace import Identified, Workspace


class Run(Identified):
    """One execution of a scenario's revision over a frozen input."""

    class State(models.TextChoices):
        """From queued to one of the three ends."""

        QUEUED = "queued", "Queued"
        RUNNING = "running", "Running"
        SUCCEEDED = "succeeded", "Succeeded"
        FAILED = "failed", "Failed"
        CANCELLED = "cancelled", "Cancelled"

    OVER = (State.SUCCEEDED, State.FAILED, State.CANCELLED)

    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="runs")
    scenario = models.ForeignKey(Scenario, on_delete=models.CASCADE, related_name="runs")
    scenario_revision = models.PositiveIntegerField()
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="runs"
    )
    options = models.JSONField(default=dict, help_text="`cycles` and `explain` as they were asked for.")
    explains = models.ForeignKey(
        "self",
        null=True,
        on_delete=models.CASCADE,
        related_name="searches",
        help_text="Set on a search for what would unblock a job of that run; its input is that run's.",
    )
    job = models.CharField(max_length=510, blank=True, help_text="The job that a search is about.")
    input = models.ForeignKey(Blob, on_delete=models.PROTECT, related_name="runs_reading")
    result = models.ForeignKey(Blob, null=True, on_delete=models.PROTECT, related_name="runs_writing")
    engine_version = models.CharField(max_length=60, blank=True)

    state = models.CharField(max_length=10, choices=State.choices, default=State.QUEUED)
    progress = models.FloatField(default=0.0, help_text="From 0 to 1.")
    doing = models.CharField(max_length=100, blank=True, help_text="What it is at now, in words.")
    error = models.TextField(blank=True, help_text="Why it failed, in one sentence.")
    timings = models.JSONField(default=dict, help_text="What a clock measured, in milliseconds.")

    attempt = models.PositiveIntegerField(default=0, help_text="The fence: raised by every claim.")
    losses = models.PositiveIntegerField(default=0, help_text="How many workers were lost over it.")
    worker = models.CharField(max_length=200, blank=True)
    lease_until = models.DateTimeField(null=True)
    heartbeat = models.DateTimeField(null=True)
    not_before = models.DateTimeField(null=True, help_text="After a lost worker it waits until then.")
    cancel_requested = models.BooleanField(default=False)

    created = models.DateTimeField(auto_now_add=True)
    started = models.DateTimeField(null=True)
    finished = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-created"]
        indexes = [
            models.Index(fields=["state", "created"], name="run_waiting"),
            models.Index(fields=["state", "lease_until"], name="run_leased"),
        ]

    def __str__(self) -> str:
        return f"Run {self.pk}"

    @property
    def is_over(self) -> bool:
        """Has it come to one of its ends?"""
        return self.state in self.OVER
