"""Scenarios and their history."""

from django.conf import settings
from django.db import models

from planner.accounts.models.workspace import Identified, Workspace
from planner.clusters.models.snapshot import Blob, Snapshot


class Scenario(Identified):
    """An editable scenario on a snapshot, to run, forecast and rebase. Every edit raises the revision."""

    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="scenarios")
    name = models.CharField(max_length=253)
    snapshot = models.ForeignKey(Snapshot, on_delete=models.PROTECT, related_name="scenarios")
    parent = models.ForeignKey("self", null=True, on_delete=models.SET_NULL, related_name="branches")
    parent_revision = models.PositiveIntegerField(
        null=True, help_text="The parent's revision at which this branch started."
    )
    conf_text = models.TextField(
        blank=True, help_text="volcano-scheduler.conf as the user wrote it; empty: Volcano's default."
    )
    release = models.CharField(
        max_length=40,
        blank=True,
        db_default="",
        help_text="The simulated release of Volcano; empty: the snapshot's.",
    )
    revision = models.PositiveIntegerField(default=1)
    note = models.TextField(blank=True, db_default="", help_text="Notes of its users, as plain text.")
    tags = models.JSONField(default=list, db_default=[], help_text="Names by which it is found again.")
    archived = models.DateTimeField(null=True, help_text="Since when it is left out of lists.")
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="scenarios"
    )
    created = models.DateTimeField(auto_now_add=True)
    updated = models.DateTimeField(auto_now_add=True)
    removed = models.DateTimeField(
        null=True, help_text="When it was removed. Its changes are kept as long as ended runs are."
    )

    class Meta:
        ordering = ["-updated"]

    def __str__(self) -> str:
        return self.name


class Change(Identified):
    """A change of a scenario: by whom, when, the value before and after.

    `kind` is a list of the scenario document (`queues`, `nodes`, `jobs`…), `conf` or `release`; `key` is the
    object's name, with its namespace if it has one (`default/train`).
    """

    class Way(models.TextChoices):
        """Whether it is an edit of its own, an undo or a redo."""

        EDIT = "edit", "Edit"
        UNDO = "undo", "Undo"
        REDO = "redo", "Redo"

    scenario = models.ForeignKey(Scenario, on_delete=models.CASCADE, related_name="changes")
    revision = models.PositiveIntegerField(help_text="The revision that this change made.")
    way = models.CharField(max_length=4, choices=Way.choices, default=Way.EDIT)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="changes"
    )
    actor = models.CharField(
        max_length=150, blank=True, db_default="", help_text="The account; empty for the system."
    )
    created = models.DateTimeField(auto_now_add=True)
    kind = models.CharField(max_length=40)
    key = models.CharField(max_length=510, blank=True, help_text="Empty for conf and release.")
    field = models.CharField(
        max_length=253, blank=True, help_text="In CRD spelling; empty for the whole object."
    )
    before = models.JSONField(null=True, help_text="Null if it was absent or unset.")
    after = models.JSONField(null=True, help_text="Null if it is absent or unset.")

    class Meta:
        ordering = ["-revision", "kind", "key", "field"]
        indexes = [models.Index(fields=["scenario", "revision"], name="change_of_revision")]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(way__in=["edit", "undo", "redo"]), name="change_way_is_known"
            )
        ]

    def __str__(self) -> str:
        return f"{self.path} at revision {self.revision}"

    @property
    def path(self) -> str:
        """Return the path of what changed: `queues.research.weight`, `conf`."""
        return ".".join(part for part in (self.kind, self.key, self.field) if part)


class ObjectChange(Identified):
    """An object other than a queue that differs from the snapshot."""

    scenario = models.ForeignKey(Scenario, on_delete=models.CASCADE, related_name="object_changes")
    kind = models.CharField(max_length=40, help_text="A list of the scenario document: `nodes`, `jobs`…")
    key = models.CharField(max_length=510)
    manifest = models.JSONField(null=True, help_text="null: removed.")

    class Meta:
        ordering = ["kind", "key"]
        constraints = [
            models.UniqueConstraint(fields=["scenario", "kind", "key"], name="object_change_once_a_scenario")
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.key}"


class ScenarioCopy(Identified):
    """A full copy of a scenario at one revision, from which later revisions are rebuilt in few steps."""

    scenario = models.ForeignKey(Scenario, on_delete=models.CASCADE, related_name="copies")
    revision = models.PositiveIntegerField()
    content = models.ForeignKey(Blob, on_delete=models.PROTECT, related_name="scenario_copies")

    class Meta:
        ordering = ["revision"]
        constraints = [
            models.UniqueConstraint(fields=["scenario", "revision"], name="scenario_copy_once_a_revision")
        ]

    def __str__(self) -> str:
        return f"revision {self.revision}"
