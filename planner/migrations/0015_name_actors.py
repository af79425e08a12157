from typing import Any

from django.conf import settings
from django.db import migrations


def name_actors(apps: Any, schema_editor: Any) -> None:
    """Write down who made the changes that are there, account by account."""
    unnamed = apps.get_model("planner", "Change").objects.filter(actor="")
    for user in apps.get_model(settings.AUTH_USER_MODEL).objects.all():
        unnamed.filter(user=user).update(actor=user.username)


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ("planner", "0014_change_actor"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [migrations.RunPython(name_actors, migrations.RunPython.noop)]
