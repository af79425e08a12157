"""A worker reads large bundles, as it reads large clusters."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('planner', '0030_sessions_and_second_factor'),
    ]

    operations = [
        migrations.AddField(
            model_name='import',
            name='is_bundle',
            field=models.BooleanField(db_default=False, default=False, help_text='The bundle of a run.'),
        ),
        migrations.AddField(
            model_name='import',
            name='run',
            field=models.ForeignKey(help_text="The run that repeats a bundle's.", null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='imports', to='planner.run'),
        ),
    ]
