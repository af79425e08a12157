from django.db import migrations, models


class Migration(migrations.Migration):
    """Keep the figures of a trace, which take as long to count as the trace takes to read."""

    dependencies = [("planner", "0054_node_constraints")]

    operations = [
        migrations.AddField(
            model_name="workloadtrace",
            name="preview",
            field=models.JSONField(
                null=True,
                help_text="Its figures; null: it was stored by an earlier release, and not shown since.",
            ),
        ),
    ]
