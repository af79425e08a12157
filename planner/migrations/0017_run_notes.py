"""A run keeps its notes beside its result, so that lists and pages need not read the result."""

import json
import zlib
from typing import Any

from django.db import migrations, models


def take_over(apps: Any, schema_editor: Any) -> None:
    """Give each finished run the notes of its result, one result in memory at a time."""
    runs = apps.get_model("planner", "Run").objects.exclude(result=None).filter(explains=None)
    blobs = apps.get_model("planner", "Blob").objects
    for sha256 in runs.order_by().values_list("result", flat=True).distinct():
        result = json.loads(zlib.decompress(blobs.get(pk=sha256).packed))
        runs.filter(result=sha256).update(notes=result.get("notes", []))


class Migration(migrations.Migration):
    dependencies = [("planner", "0016_import")]

    operations = [
        migrations.AddField(
            model_name="run",
            name="notes",
            field=models.JSONField(
                default=list, help_text="What the run leaves out and what it assumes, one sentence each."
            ),
        ),
        migrations.RunPython(take_over, migrations.RunPython.noop),
    ]
