"""Outcomes become rows of their own that runs share, and decisions are packed into their parts.

Each run that has figures gets an outcome under its own id, so that no other row has to be written anew. The
column `run_id` of the rows keeps its name; the empty table of decisions is dropped in a later release.
"""

import itertools
import json
import uuid
import zlib
from collections.abc import Iterator
from typing import Any

import django.db.models.deletion
from django.db import migrations, models
from django.db.migrations.operations.base import Operation

IN_A_PART = 5_000
FIELDS = ("seq", "cycle", "action", "op", "job", "pod", "node", "reason", "for_pod", "state")


def outcomes_make(apps: Any, schema_editor: Any) -> None:
    """Give each run that has figures an outcome, and pack its decisions; may run twice."""
    Run, Outcome, Trace, Decision = (
        apps.get_model("planner", name) for name in ("Run", "Outcome", "Trace", "Decision")
    )
    runs = Run.objects.filter(outcome=None, queue_outcomes__isnull=False).order_by().distinct()
    for key in list(runs.values_list("pk", flat=True)):
        outcome, _ = Outcome.objects.get_or_create(pk=key)
        steps = Decision.objects.filter(run=key).order_by("seq").values_list(*FIELDS).iterator(chunk_size=IN_A_PART)
        Trace.objects.filter(run=key, part="decisions").delete()
        for number in itertools.count():
            some = list(itertools.islice(steps, IN_A_PART))
            if not some:
                break
            content = json.dumps(some, ensure_ascii=False, separators=(",", ":")).encode()
            Trace.objects.create(
                run_id=key,
                part="decisions",
                key=f"{number:06}",
                packed=zlib.compress(content, 6),
                size=len(content),
            )
        Run.objects.filter(pk=key).update(outcome=outcome)
        Decision.objects.filter(run=key).delete()
    references_check(schema_editor)


def references_check(schema_editor: Any) -> None:
    """Check now what PostgreSQL would check at the end: it alters no table whose rows still wait for that."""
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        schema_editor.execute("SET CONSTRAINTS ALL DEFERRED")


def outcomes_give_back(apps: Any, schema_editor: Any) -> None:
    """Give the rows of an outcome to one of the runs that share it, under that run's id."""
    Run, Outcome = apps.get_model("planner", "Run"), apps.get_model("planner", "Outcome")
    for run in Run.objects.exclude(outcome=None).exclude(outcome=models.F("pk")).order_by("created"):
        own, is_new = Outcome.objects.get_or_create(pk=run.pk)
        if is_new:
            for name in ("QueueOutcome", "JobOutcome", "Victim", "Trace"):
                apps.get_model("planner", name).objects.filter(outcome=run.outcome_id).update(outcome=own)
            Run.objects.filter(pk=run.pk).update(outcome=own)


def part_of(name: str, to: str) -> "models.ForeignKey[Any, Any]":
    return models.ForeignKey(
        db_column="run_id", on_delete=django.db.models.deletion.CASCADE, related_name=name, to=f"planner.{to}"
    )


def moved(
    model: str, name: str, constraint: tuple[str, str], field: tuple[str, ...]
) -> Iterator[Operation]:
    """Yield the steps by which rows come to belong to an outcome instead of a run."""
    yield migrations.RemoveConstraint(model, constraint[0])
    yield migrations.AlterField(model, "run", part_of(name, "run"))
    yield migrations.RenameField(model, "run", "outcome")
    yield migrations.AlterField(model, "outcome", part_of(name, "outcome"))
    yield migrations.AddConstraint(
        model, models.UniqueConstraint(fields=("outcome", *field), name=constraint[1])
    )


class Migration(migrations.Migration):

    dependencies = [("planner", "0028_plain_help")]

    operations = [
        migrations.CreateModel(
            name="Outcome",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ("created", models.DateTimeField(auto_now_add=True)),
            ],
            options={"abstract": False},
        ),
        migrations.AddField(
            "run",
            "outcome",
            models.ForeignKey(
                help_text="The result in figures; null until the run succeeded, and for a search.",
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="runs",
                to="planner.outcome",
            ),
        ),
        migrations.RunPython(outcomes_make, migrations.RunPython.noop, elidable=True),
        *moved("queueoutcome", "queue_outcomes", ("queue_outcome_once_a_run", "queue_once_an_outcome"), ("queue",)),
        *moved("joboutcome", "job_outcomes", ("job_outcome_once_a_run", "job_once_an_outcome"), ("job",)),
        *moved("victim", "victims", ("victim_order_once_a_run", "victim_once_an_outcome"), ("order",)),
        *moved("trace", "traces", ("trace_part_once_a_run", "trace_once_an_outcome"), ("part", "key")),
        migrations.RunPython(migrations.RunPython.noop, outcomes_give_back, elidable=True),
        migrations.SeparateDatabaseAndState(state_operations=[migrations.DeleteModel("Decision")]),
    ]
