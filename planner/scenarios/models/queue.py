"""The queues of a scenario."""

from django.db import models

from planner.accounts.models.workspace import Identified
from planner.scenarios.models.scenario import Scenario
from planning.queues import QUEUE_FIELDS
from planning.queues import Queue as PlannedQueue


class Queue(Identified):
    """One queue of a scenario, with the fields of Volcano's Queue. Null or empty means not set."""

    scenario = models.ForeignKey(Scenario, on_delete=models.CASCADE, related_name="queues")
    name = models.CharField(max_length=253)
    imported_name = models.CharField(
        max_length=253, blank=True, help_text="Its name in the snapshot; empty: added in the scenario."
    )
    parent = models.CharField(max_length=253, blank=True)
    weight = models.IntegerField(null=True)
    priority = models.IntegerField(null=True)
    reclaimable = models.BooleanField(null=True)
    state = models.CharField(max_length=30, blank=True)
    guarantee = models.JSONField(default=dict)
    deserved = models.JSONField(default=dict)
    capability = models.JSONField(default=dict)
    dequeue_strategy = models.CharField(max_length=30, blank=True)
    affinity = models.JSONField(default=dict)
    annotations = models.JSONField(default=dict)
    labels = models.JSONField(default=dict)
    created = models.CharField(max_length=40, blank=True, help_text="metadata.creationTimestamp.")
    extra = models.JSONField(default=dict, help_text="The rest of the object, so that nothing is lost.")
    position = models.PositiveIntegerField(default=0, help_text="Its place in the imported list.")

    class Meta:
        ordering = ["position", "name"]
        constraints = [
            models.UniqueConstraint(fields=["scenario", "name"], name="queue_name_once_a_scenario")
        ]

    def __str__(self) -> str:
        return self.name

    @classmethod
    def of(cls, scenario: Scenario, planned: PlannedQueue) -> "Queue":
        """Return the unsaved row of a planned queue."""
        fields = {name: getattr(planned, name) for name in QUEUE_FIELDS}
        return cls(scenario=scenario, **fields, **({"id": planned.id} if planned.id else {}))
