"""What a page has read waits in rows, so that Redis need not hold it."""

import django.db.models.deletion
import uuid
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("planner", "0026_workspace_names"),
    ]

    operations = [
        migrations.CreateModel(
            name="ImportPreview",
            fields=[
                (
                    "id",
                    models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False),
                ),
                ("created", models.DateTimeField(auto_now_add=True)),
                ("name", models.CharField(max_length=253)),
                ("provenance", models.CharField(blank=True, max_length=500)),
                ("scheduler_conf", models.TextField(blank=True)),
                ("counts", models.JSONField(default=dict)),
                ("problems", models.JSONField(default=list)),
                (
                    "content",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="import_previews",
                        to="planner.blob",
                    ),
                ),
                (
                    "owner",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="import_previews",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "workspace",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="import_previews",
                        to="planner.workspace",
                    ),
                ),
            ],
            options={
                "ordering": ["created"],
            },
        ),
    ]
