from typing import Any

from django.db import migrations


def name_actors(apps: Any, schema_editor: Any) -> None:
    """Write down who made the changes that are there, account by account."""
    unnamed = apps.get_model("planner", "Change").objects.filter(actor="")
    for user in apps.get_model("auth", "User").objects.all():
        unnamed.filter(user=user).update(actor=user.username)


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ("auth", "0012_alter_user_first_name_max_length"),
        ("planner", "0014_change_actor"),
    ]

    operations = [migrations.RunPython(name_actors, migrations.RunPython.noop)]
