"""Guesses at passwords are counted in rows, so that none escapes the count."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("planner", "0018_user_content_type"),
    ]

    operations = [
        migrations.CreateModel(
            name="LoginGuesses",
            fields=[
                ("key", models.CharField(editable=False, max_length=64, primary_key=True, serialize=False)),
                ("count", models.PositiveIntegerField(default=0)),
                ("next_at", models.DateTimeField(help_text="No log-in is checked before this time.", null=True)),
                ("expires", models.DateTimeField(db_index=True)),
            ],
        ),
    ]
