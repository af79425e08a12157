"""Wait targets of queues."""

from django.db import models

from planner.accounts.models.workspace import Identified
from planner.scenarios.models.scenario import Scenario


class WaitTarget(Identified):
    """The longest accepted 95th percentile of a queue's waits; belongs to the scenario."""

    scenario = models.ForeignKey(Scenario, on_delete=models.CASCADE, related_name="wait_targets")
    queue = models.CharField(max_length=253)
    seconds = models.FloatField(help_text="95 % of the queue's jobs wait at most this long.")

    class Meta:
        ordering = ["queue"]
        constraints = [
            models.UniqueConstraint(fields=["scenario", "queue"], name="wait_target_once_a_queue"),
            models.CheckConstraint(condition=models.Q(seconds__gt=0.0), name="wait_target_above_zero"),
        ]

    def __str__(self) -> str:
        return f"{self.queue}: {self.seconds:g} s"
