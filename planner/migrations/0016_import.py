"""A worker reads what is too large to be read while its sender waits; runs stay as they are."""

import django.db.models.deletion
import uuid
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("planner", "0015_name_actors"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AlterField(
            model_name="run",
            name="owner",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="%(class)ss",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AlterField(
            model_name="run",
            name="workspace",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="%(class)ss", to="planner.workspace"
            ),
        ),
        migrations.CreateModel(
            name="Import",
            fields=[
                (
                    "id",
                    models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("queued", "Queued"),
                            ("running", "Running"),
                            ("succeeded", "Succeeded"),
                            ("failed", "Failed"),
                            ("cancelled", "Cancelled"),
                        ],
                        default="queued",
                        max_length=10,
                    ),
                ),
                ("progress", models.FloatField(default=0.0, help_text="From 0 to 1.")),
                (
                    "doing",
                    models.CharField(blank=True, help_text="The current step.", max_length=100),
                ),
                ("error", models.TextField(blank=True, help_text="Why it failed, in one sentence.")),
                (
                    "attempt",
                    models.PositiveIntegerField(default=0, help_text="The fencing number: every claim increases it."),
                ),
                (
                    "losses",
                    models.PositiveIntegerField(default=0, help_text="The number of workers lost while processing it."),
                ),
                ("worker", models.CharField(blank=True, max_length=200)),
                ("lease_until", models.DateTimeField(null=True)),
                ("heartbeat", models.DateTimeField(null=True)),
                (
                    "not_before",
                    models.DateTimeField(help_text="The earliest next attempt after a lost worker.", null=True),
                ),
                ("cancel_requested", models.BooleanField(default=False)),
                ("created", models.DateTimeField(auto_now_add=True)),
                ("started", models.DateTimeField(null=True)),
                ("finished", models.DateTimeField(null=True)),
                ("name", models.CharField(help_text="Of the snapshot.", max_length=253)),
                ("provenance", models.CharField(blank=True, help_text="Where it came from.", max_length=500)),
                (
                    "is_dry",
                    models.BooleanField(default=False, help_text="Dry run: reports what it finds and saves nothing."),
                ),
                ("counts", models.JSONField(default=dict, help_text="Objects by kind.")),
                ("unknown_kinds", models.JSONField(default=dict, help_text="Objects left out, by kind.")),
                (
                    "has_conf",
                    models.BooleanField(default=False, help_text="Whether a scheduler configuration was among them."),
                ),
                ("problems", models.JSONField(default=list, help_text="All problems found.")),
                (
                    "files",
                    models.ForeignKey(
                        help_text="What was sent, packed into one archive.",
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="imports_reading",
                        to="planner.blob",
                    ),
                ),
                (
                    "owner",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="%(class)ss",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "snapshot",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="imports",
                        to="planner.snapshot",
                    ),
                ),
                (
                    "workspace",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="%(class)ss",
                        to="planner.workspace",
                    ),
                ),
            ],
            options={
                "ordering": ["-created"],
                "abstract": False,
                "indexes": [
                    models.Index(fields=["state", "created"], name="import_waiting"),
                    models.Index(fields=["state", "lease_until"], name="import_leased"),
                ],
            },
        ),
    ]
