import django.db.models.deletion
import uuid
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("planner", "0006_victim_ran_seconds"),
    ]

    operations = [
        migrations.AddField(
            model_name="run",
            name="explains",
            field=models.ForeignKey(
                help_text="Set on a search for what would unblock a job of that run; its input is that run's.",
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="searches",
                to="planner.run",
            ),
        ),
        migrations.AddField(
            model_name="run",
            name="job",
            field=models.CharField(blank=True, help_text="The job that a search is about.", max_length=510),
        ),
        migrations.CreateModel(
            name="Trace",
            fields=[
                (
                    "id",
                    models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False),
                ),
                ("part", models.CharField(help_text="Which part of the explanation.", max_length=20)),
                (
                    "key",
                    models.CharField(
                        blank=True, help_text="The object that the part explains, where there is one part each.", max_length=510
                    ),
                ),
                ("packed", models.BinaryField()),
                ("size", models.PositiveBigIntegerField(help_text="Bytes when unpacked.")),
                (
                    "run",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="traces", to="planner.run"
                    ),
                ),
            ],
        ),
        migrations.AddConstraint(
            model_name="trace",
            constraint=models.UniqueConstraint(fields=("run", "part", "key"), name="trace_part_once_a_run"),
        ),
    ]
