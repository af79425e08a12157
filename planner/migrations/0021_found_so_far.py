from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor


def forget_searches(apps: Apps, _editor: BaseDatabaseSchemaEditor) -> None:
    """Remove searches: their answers lack what is shown now, and are found again when somebody asks."""
    apps.get_model("planner", "Run").objects.filter(explains__isnull=False).delete()


class Migration(migrations.Migration):
    dependencies = [("planner", "0020_invitations_by_name")]

    operations = [
        migrations.AddField(
            model_name="run",
            name="found_so_far",
            field=models.JSONField(help_text="The findings of a search that has no result yet.", null=True),
        ),
        migrations.RunPython(forget_searches, migrations.RunPython.noop),
    ]
