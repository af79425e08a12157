"""The account's model moved from Django's app to ours; what refers to its content type follows."""

from typing import Any

from django.db import migrations


def move(apps: Any, schema_editor: Any) -> None:
    """Rename the content type that databases from before have."""
    types = apps.get_model("contenttypes", "ContentType").objects
    if not types.filter(app_label="planner", model="user").exists():
        types.filter(app_label="auth", model="user").update(app_label="planner")


class Migration(migrations.Migration):
    dependencies = [("contenttypes", "0002_remove_content_type_name"), ("planner", "0017_run_notes")]
    operations = [migrations.RunPython(move, migrations.RunPython.noop)]
