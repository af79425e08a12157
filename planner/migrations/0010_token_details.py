"""Tokens that were made before may do what they could: everything that their owner may."""

from typing import Any

from django.db import migrations


def tell_details(apps: Any, schema_editor: Any) -> None:
    """Give every token its row of details."""
    details = apps.get_model("planner", "TokenDetails")
    tokens = apps.get_model("knox", "AuthToken").objects.filter(details=None)
    details.objects.bulk_create(details(token=token) for token in tokens)


class Migration(migrations.Migration):
    dependencies = [("planner", "0009_object_change")]
    operations = [migrations.RunPython(tell_details, migrations.RunPython.noop)]
