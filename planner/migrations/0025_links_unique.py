from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("planner", "0024_hash_links")]

    operations = [
        migrations.AlterField(
            model_name="publiclink",
            name="digest",
            field=models.CharField(help_text="SHA-256 of the address's secret.", max_length=64, unique=True),
        ),
    ]
