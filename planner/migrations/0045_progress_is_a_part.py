"""Bring progress that rounding left outside of 0 to 1 back, before the database minds it."""

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

KINDS = ("run", "import", "forecast", "experimentgroup")


def bring_back(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    for kind in KINDS:
        rows = apps.get_model("planner", kind).objects.using(schema_editor.connection.alias)
        rows.filter(progress__gt=1.0).update(progress=1.0)
        rows.filter(progress__lt=0.0).update(progress=0.0)


class Migration(migrations.Migration):
    dependencies = [("planner", "0044_experiments")]
    operations = [migrations.RunPython(bring_back, migrations.RunPython.noop, elidable=True)]
