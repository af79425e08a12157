"""Name what a change is about in parts, keep objects that differ from the snapshot, and full copies."""

import uuid
from typing import Any

import django.db.models.deletion
from django.db import migrations, models
from django.db.models import F


def split_paths(apps: Any, schema_editor: Any) -> None:
    """`queues.<name>.<field>` and `conf` were the only paths; a field's name had no dot."""
    change = apps.get_model("planner", "Change")
    rows = []
    for row in change.objects.iterator():
        row.kind, _, rest = row.path.partition(".")
        row.key, _, row.field = rest.rpartition(".")
        rows.append(row)
    change.objects.bulk_update(rows, ["kind", "key", "field"], batch_size=500)


def name_imported(apps: Any, schema_editor: Any) -> None:
    """Until now every queue of a scenario came from its snapshot, under its name there."""
    apps.get_model("planner", "Queue").objects.update(imported_name=F("name"))


class Migration(migrations.Migration):
    dependencies = [
        ("planner", "0008_access"),
    ]

    operations = [
        migrations.AddField(
            model_name="queue",
            name="imported_name",
            field=models.CharField(
                blank=True,
                default="",
                help_text="Its name in the snapshot; empty: added in the scenario.",
                max_length=253,
            ),
            preserve_default=False,
        ),
        migrations.RunPython(name_imported, migrations.RunPython.noop, elidable=True),
        migrations.AddField(
            model_name="scenario",
            name="parent_revision",
            field=models.PositiveIntegerField(
                help_text="The parent's revision at which this branch started.", null=True
            ),
        ),
        migrations.AddField(
            model_name="change",
            name="way",
            field=models.CharField(
                choices=[("edit", "Edit"), ("undo", "Undo"), ("redo", "Redo")], default="edit", max_length=4
            ),
        ),
        migrations.AddField(
            model_name="change",
            name="kind",
            field=models.CharField(default="", max_length=40),
            preserve_default=False,
        ),
        migrations.AddField(
            model_name="change",
            name="key",
            field=models.CharField(blank=True, default="", help_text="Empty for conf.", max_length=510),
            preserve_default=False,
        ),
        migrations.AddField(
            model_name="change",
            name="field",
            field=models.CharField(
                blank=True,
                default="",
                help_text="In CRD spelling; empty: the whole object.",
                max_length=253,
            ),
            preserve_default=False,
        ),
        migrations.AlterField(
            model_name="change",
            name="before",
            field=models.JSONField(help_text="Null if it was absent or unset.", null=True),
        ),
        migrations.AlterField(
            model_name="change",
            name="after",
            field=models.JSONField(help_text="Null if it is absent or unset.", null=True),
        ),
        migrations.RunPython(split_paths, migrations.RunPython.noop, elidable=True),
        migrations.AlterModelOptions(
            name="change", options={"ordering": ["-revision", "kind", "key", "field"]}
        ),
        migrations.RemoveField(model_name="change", name="path"),
        migrations.AddIndex(
            model_name="change",
            index=models.Index(fields=["scenario", "revision"], name="change_of_revision"),
        ),
        migrations.CreateModel(
            name="ObjectChange",
            fields=[
                (
                    "id",
                    models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False),
                ),
                (
                    "kind",
                    models.CharField(
                        help_text="A list of the scenario document: `nodes`, `jobs`…", max_length=40
                    ),
                ),
                ("key", models.CharField(max_length=510)),
                ("manifest", models.JSONField(help_text="null: removed.", null=True)),
                (
                    "scenario",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="object_changes",
                        to="planner.scenario",
                    ),
                ),
            ],
            options={"ordering": ["kind", "key"]},
        ),
        migrations.AddConstraint(
            model_name="objectchange",
            constraint=models.UniqueConstraint(
                fields=("scenario", "kind", "key"), name="object_change_once_a_scenario"
            ),
        ),
        migrations.CreateModel(
            name="ScenarioCopy",
            fields=[
                (
                    "id",
                    models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False),
                ),
                ("revision", models.PositiveIntegerField()),
                (
                    "content",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="scenario_copies",
                        to="planner.blob",
                    ),
                ),
                (
                    "scenario",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="copies",
                        to="planner.scenario",
                    ),
                ),
            ],
            options={"ordering": ["revision"]},
        ),
        migrations.AddConstraint(
            model_name="scenariocopy",
            constraint=models.UniqueConstraint(
                fields=("scenario", "revision"), name="scenario_copy_once_a_revision"
            ),
        ),
    ]
