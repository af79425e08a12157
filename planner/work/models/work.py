"""The state of a piece of work; the row is authoritative, messages only notify."""

from django.conf import settings
from django.db import models

from planner.accounts.models.workspace import Identified, Workspace


class Work(Identified):
    """Work that a user requests and a worker executes: claimed with a lease, monitored, retried."""

    class State(models.TextChoices):
        """From queued to one of three final states."""

        QUEUED = "queued", "Queued"
        RUNNING = "running", "Running"
        SUCCEEDED = "succeeded", "Succeeded"
        FAILED = "failed", "Failed"
        CANCELLED = "cancelled", "Cancelled"

    OVER = (State.SUCCEEDED, State.FAILED, State.CANCELLED)

    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="%(class)ss")
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="%(class)ss"
    )

    state = models.CharField(max_length=10, choices=State.choices, default=State.QUEUED)
    progress = models.FloatField(default=0.0, help_text="From 0 to 1.")
    doing = models.CharField(max_length=100, blank=True, help_text="The current step.")
    error = models.TextField(blank=True, help_text="Why it failed, in one sentence.")

    attempt = models.PositiveIntegerField(
        default=0, help_text="The fencing number: every claim increases it."
    )
    losses = models.PositiveIntegerField(
        default=0, help_text="The number of workers lost while processing it."
    )
    kills = models.PositiveIntegerField(
        default=0, db_default=0, help_text="How often its child process was killed from outside."
    )
    worker = models.CharField(max_length=200, blank=True)
    lease_until = models.DateTimeField(null=True)
    heartbeat = models.DateTimeField(null=True)
    not_before = models.DateTimeField(null=True, help_text="The earliest next attempt after a lost worker.")
    cancel_requested = models.BooleanField(default=False)

    created = models.DateTimeField(auto_now_add=True)
    started = models.DateTimeField(null=True)
    finished = models.DateTimeField(null=True)

    class Meta:
        abstract = True
        ordering = ["-created"]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(state__in=["queued", "running", "succeeded", "failed", "cancelled"]),
                name="%(class)s_state_is_known",
            ),
            models.CheckConstraint(
                condition=models.Q(progress__gte=0.0, progress__lte=1.0), name="%(class)s_progress_is_a_part"
            ),
        ]
        indexes = [
            models.Index(fields=["state", "created"], name="%(class)s_waiting"),
            models.Index(fields=["state", "lease_until"], name="%(class)s_leased"),
        ]

    def __str__(self) -> str:
        return f"{self.kind_name().capitalize()} {self.pk}"

    @classmethod
    def kind_name(cls) -> str:
        """Return the word for such work: `run` or `import`."""
        return str(cls._meta.verbose_name)

    @property
    def is_over(self) -> bool:
        """Whether it is in a final state."""
        return self.state in self.OVER
