from typing import Any

from django.db import migrations


def make_default_workspace(apps: Any, schema_editor: Any) -> None:
    apps.get_model("planner", "Workspace").objects.get_or_create(name="default")


class Migration(migrations.Migration):
    dependencies = [("planner", "0001_initial")]

    operations = [migrations.RunPython(make_default_workspace, migrations.RunPython.noop)]
