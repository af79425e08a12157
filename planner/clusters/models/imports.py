"""Imports that a worker reads, and previews of imports."""

from django.conf import settings
from django.db import models

from planner.accounts.models.workspace import Identified, Workspace
from planner.clusters.models.snapshot import Blob, Snapshot
from planner.work.models.work import Work


class Import(Work):
    """Files that a worker reads into a snapshot; `tidy` deletes the files of finished imports."""

    name = models.CharField(max_length=253, help_text="Of the snapshot.")
    provenance = models.CharField(max_length=500, blank=True, help_text="Where it came from.")
    files = models.ForeignKey(
        Blob,
        null=True,
        on_delete=models.PROTECT,
        related_name="imports_reading",
        help_text="What was sent, packed into one archive.",
    )
    is_dry = models.BooleanField(default=False, help_text="Dry run: reports what it finds and saves nothing.")
    is_bundle = models.BooleanField(default=False, db_default=False, help_text="The bundle of a run.")
    run = models.ForeignKey(
        "Run",
        null=True,
        on_delete=models.SET_NULL,
        related_name="imports",
        help_text="The run that repeats a bundle's.",
    )
    snapshot = models.ForeignKey(Snapshot, null=True, on_delete=models.SET_NULL, related_name="imports")
    counts = models.JSONField(default=dict, help_text="Objects by kind.")
    unknown_kinds = models.JSONField(default=dict, help_text="Objects left out, by kind.")
    has_conf = models.BooleanField(
        default=False, help_text="Whether a scheduler configuration was among them."
    )
    problems = models.JSONField(default=list, help_text="All problems found.")


class ImportPreview(Identified):
    """A cluster that was read for a page and is not saved yet; deleted after an hour."""

    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="import_previews")
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="import_previews"
    )
    created = models.DateTimeField(auto_now_add=True)
    name = models.CharField(max_length=253)
    provenance = models.CharField(max_length=500, blank=True)
    content = models.ForeignKey(Blob, on_delete=models.PROTECT, related_name="import_previews")
    scheduler_conf = models.TextField(blank=True)
    counts = models.JSONField(default=dict)
    problems = models.JSONField(default=list)
    queues = models.JSONField(
        null=True, help_text="The snapshot's Queue objects; null: they are only in the content."
    )

    class Meta:
        ordering = ["created"]

    def __str__(self) -> str:
        return self.name
