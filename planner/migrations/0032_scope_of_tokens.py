"""A token states its scope: no default, and nothing that is not a role."""

from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('planner', '0031_bundles_by_workers'),
        migrations.swappable_dependency(settings.KNOX_TOKEN_MODEL),
    ]

    operations = [
        migrations.AlterField(
            model_name='tokendetails',
            name='scope',
            field=models.CharField(choices=[('viewer', 'Viewer'), ('editor', 'Editor'), ('admin', 'Admin')], help_text='The most powerful role the token may use.', max_length=10),
        ),
        migrations.AddConstraint(
            model_name='tokendetails',
            constraint=models.CheckConstraint(condition=models.Q(('scope__in', ['viewer', 'editor', 'admin'])), name='token_scope_is_a_role'),
        ),
    ]
