"""Public links get a label, an expiry and a hash of their address; events know where they came from."""

from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("planner", "0022_kills_and_tallies"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddField(
            model_name="publiclink",
            name="label",
            field=models.CharField(
                blank=True, db_default="", help_text="The recipient, as noted by the user who created it.", max_length=100
            ),
        ),
        migrations.AddField(
            model_name="publiclink",
            name="expires",
            field=models.DateTimeField(help_text="null: created before links expired.", null=True),
        ),
        migrations.AddField(
            model_name="publiclink",
            name="reads",
            field=models.PositiveIntegerField(db_default=0, default=0),
        ),
        migrations.AddField(
            model_name="publiclink",
            name="last_read",
            field=models.DateTimeField(null=True),
        ),
        migrations.AddField(
            model_name="publiclink",
            name="digest",
            field=models.CharField(max_length=64, null=True),
        ),
        migrations.AlterField(
            model_name="invitation",
            name="username",
            field=models.CharField(
                blank=True,
                db_default="",
                help_text="The invited account; empty: a link.",
                max_length=150,
            ),
        ),
        migrations.AddField(
            model_name="event",
            name="address",
            field=models.CharField(
                blank=True, db_default="", help_text="The network address of the request.", max_length=45
            ),
        ),
        migrations.AlterField(
            model_name="event",
            name="action",
            field=models.CharField(help_text="made, changed, removed, accepted, read…", max_length=20),
        ),
        migrations.AlterField(
            model_name="event",
            name="kind",
            field=models.CharField(
                choices=[
                    ("member", "Member"),
                    ("token", "Token"),
                    ("invitation", "Invitation"),
                    ("link", "Public link"),
                    ("scenario", "Scenario"),
                    ("workspace", "Workspace"),
                    ("login", "Log-in"),
                    ("export", "Export"),
                ],
                max_length=12,
            ),
        ),
        migrations.AddIndex(
            model_name="event",
            index=models.Index(fields=["user", "-created"], name="event_of_user"),
        ),
    ]
