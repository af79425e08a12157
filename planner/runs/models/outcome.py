"""The outcome of a run, in the figures that pages and scripts filter and sort by.

Decisions have no rows of their own: a run has tens of thousands of them, so they are packed in a `Trace`.

Amounts are JSON objects in the scheduler's units (cpu in milli-cores, memory in bytes, pods as a count,
other resources in milli-units); null means unlimited, a missing name means not set.
"""

from django.db import models

from planner.accounts.models.workspace import Identified
from planning.rows import BEFORE_PODS, waits


class Outcome(Identified):
    """The outcome of one input under one set of options by one engine; runs that agree in these share it."""

    created = models.DateTimeField(auto_now_add=True)
    counts = models.JSONField(
        null=True,
        help_text="The counts of its decisions, see `RunCounts`; null: stored before there were counts.",
    )

    def __str__(self) -> str:
        return f"outcome {self.pk}"


def part_of_outcome(name: str) -> "models.ForeignKey[Outcome, Outcome]":
    """Return the foreign key of a row to its outcome; the column keeps its name from the first release."""
    return models.ForeignKey(Outcome, on_delete=models.CASCADE, related_name=name, db_column="run_id")


class QueueOutcome(Identified):
    """The outcome of a run for one queue, at the end of the last cycle and at the start of the first."""

    outcome = part_of_outcome("queue_outcomes")
    queue = models.CharField(max_length=253)
    parent = models.CharField(max_length=253, blank=True)
    depth = models.PositiveSmallIntegerField(default=0)
    position = models.PositiveIntegerField(help_text="Position in the tree, parents first.")
    weight = models.IntegerField(null=True)
    in_session = models.BooleanField(
        help_text="Whether the queue plugin counts it; if not, its figures are empty."
    )
    overused = models.BooleanField(null=True)
    share = models.FloatField(null=True)
    share_at_open = models.FloatField(null=True)
    deserved = models.JSONField(default=dict)
    allocated = models.JSONField(default=dict)
    allocated_at_open = models.JSONField(default=dict)
    request = models.JSONField(default=dict)
    capability = models.JSONField(default=dict)
    real_capability = models.JSONField(default=dict)
    guarantee = models.JSONField(default=dict)
    elastic = models.JSONField(default=dict)
    inqueue = models.JSONField(default=dict)

    class Meta:
        ordering = ["position"]
        constraints = [models.UniqueConstraint(fields=["outcome", "queue"], name="queue_once_an_outcome")]

    def __str__(self) -> str:
        return self.queue


WAITS = models.Q(pending__gt=0) | models.Q(pods=0, phase_after__in=BEFORE_PODS)
"""Jobs that wait, see `planning.rows.waits`."""


class JobOutcome(Identified):
    """The outcome of a run for one job (a PodGroup), at the end of the last cycle."""

    outcome = part_of_outcome("job_outcomes")
    job = models.CharField(max_length=510, help_text="namespace/name of the podgroup.")
    queue = models.CharField(max_length=253)
    position = models.PositiveIntegerField()
    phase_before = models.CharField(max_length=30, blank=True)
    phase_after = models.CharField(max_length=30, blank=True)
    priority = models.BigIntegerField(default=0)
    min_available = models.IntegerField(default=0)
    pods = models.PositiveIntegerField(default=0)
    task_status = models.JSONField(default=dict, help_text="Pods by task status.")
    pending = models.PositiveIntegerField(default=0, help_text="Waiting pods.")
    ready = models.BooleanField(default=False)
    pipelined = models.BooleanField(default=False)
    starving = models.BooleanField(default=False)
    gate = models.CharField(max_length=60, blank=True, help_text="The gate at which it waits.")
    resource = models.CharField(
        max_length=253, blank=True, db_default="", help_text="The resource that the gate lacks."
    )
    message = models.TextField(
        blank=True, help_text="Why it waits: the reason of the gate, otherwise the fit error."
    )
    fit_error = models.TextField(blank=True)
    pending_reasons = models.JSONField(default=dict, help_text="Pods by reason.")
    pending_explain = models.JSONField(default=dict, help_text="The explanation as returned by the core.")

    class Meta:
        ordering = ["position"]
        constraints = [models.UniqueConstraint(fields=["outcome", "job"], name="job_once_an_outcome")]
        indexes = [models.Index(fields=["outcome", "queue", "pending", "position"], name="jobs_of_a_queue")]

    def __str__(self) -> str:
        return self.job

    @property
    def waits(self) -> bool:
        """Return whether it waits: for places for pods, or for its first pods."""
        return waits({name: getattr(self, name) for name in ("pending", "pods", "phase_after")})


class DecisionState(models.TextChoices):
    """How a decision ended when its statement was closed."""

    COMMITTED = "committed", "Committed"
    KEPT = "kept", "Kept"
    FAILED = "failed", "Failed"


class Victim(Identified):
    """A running pod that a run chose to evict."""

    outcome = part_of_outcome("victims")
    order = models.PositiveIntegerField(help_text="Position among the decisions.")
    cycle = models.PositiveIntegerField(default=1)
    pod = models.CharField(max_length=510)
    job = models.CharField(max_length=510, blank=True)
    queue = models.CharField(max_length=253, blank=True)
    node = models.CharField(max_length=253, blank=True)
    for_pod = models.CharField(max_length=510, blank=True)
    for_job = models.CharField(max_length=510, blank=True)
    for_queue = models.CharField(max_length=253, blank=True)
    action = models.CharField(max_length=30)
    reason = models.TextField(blank=True)
    state = models.CharField(max_length=10, choices=DecisionState.choices)
    ran_seconds = models.FloatField(null=True, help_text="How long it had run; null if its start is unknown.")

    class Meta:
        ordering = ["order"]
        constraints = [
            models.UniqueConstraint(fields=["outcome", "order"], name="victim_once_an_outcome"),
            models.CheckConstraint(
                condition=models.Q(state__in=DecisionState.values), name="victim_state_is_known"
            ),
        ]

    def __str__(self) -> str:
        return self.pod
