"""Name the resource that each stored job lacks, as new outcomes do; its explanation says it already."""

from typing import Any

from django.db import migrations
from django.db.models import Value
from django.db.models.fields.json import KT
from django.db.models.functions import Coalesce, Left


def name_resources(apps: Any, schema_editor: Any) -> None:
    waiting = apps.get_model("planner", "JobOutcome").objects.filter(pending__gt=0)
    waiting.update(resource=Left(Coalesce(KT("pending_explain__resource"), Value("")), 253))


class Migration(migrations.Migration):
    dependencies = [
        ("planner", "0038_names_and_counts"),
    ]

    operations = [migrations.RunPython(name_resources, migrations.RunPython.noop)]
