from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("planner", "0013_run_needs_no_kick")]

    operations = [
        migrations.AddField(
            "change",
            "actor",
            models.CharField(
                blank=True, db_default="", help_text="The account; empty for the system.", max_length=150
            ),
        ),
    ]
