"""Rows in every table of an old database: ``python -m tests.processes.history BACKUP`` upgrades one.

The database begins without tables. After each migration, new tables are filled with the rows of a current
backup, as far as they fit, otherwise with one row in which no column is empty.
"""

import base64
import gzip
import json
import sys
import zlib
from collections import defaultdict
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import django

django.setup()

from django.core.management.color import no_style  # noqa: E402
from django.db import connection, migrations, models, transaction  # noqa: E402
from django.db.migrations.executor import MigrationExecutor  # noqa: E402
from django.utils import timezone  # noqa: E402

STEPS = ("seq", "cycle", "action", "op", "job", "pod", "node", "reason", "for_pod", "state")
BY_RUN = ("queueoutcome", "joboutcome", "victim", "trace")
"""Tables that belonged to a run before outcomes had their own rows."""
APPS = ("planner", "knox")

Rows = dict[str, list[dict[str, Any]]]
Row = dict[str, str]


def past_rows(backup: Path) -> Rows:
    """Return the rows of a backup by kind, in the form of the first releases."""
    rows: Rows = defaultdict(list)
    for line in gzip.decompress(backup.read_bytes()).decode().splitlines()[1:-1]:
        one = json.loads(line)
        rows[one["model"]].append({"pk": one["pk"], **one["fields"]})
    run_of = {run["outcome"]: run["pk"] for run in rows["planner.run"]}
    for name in BY_RUN:
        for row in rows[f"planner.{name}"]:
            row["run"] = run_of[row["outcome"]]
    for part in [row for row in rows["planner.trace"] if row["part"] == "decisions"]:
        rows["planner.trace"].remove(part)
        for step in json.loads(zlib.decompress(base64.b64decode(part["packed"]))):
            number = len(rows["planner.decision"]) + 1
            values = dict(zip(STEPS, step, strict=True))
            rows["planner.decision"].append({**values, "pk": number, "run": part["run"]})
    return rows


def migrate_and_fill(rows: Rows) -> dict[str, list[Row]]:
    """Apply every migration and fill its new tables; return the rows as first stored, by table."""
    executor = MigrationExecutor(connection)
    state = None
    filled: set[str] = set()
    kept: dict[str, list[Row]] = {}
    for migration, _ in executor.migration_plan(executor.loader.graph.leaf_nodes()):
        state = executor.migrate([], plan=[(migration, False)], state=state)
        makes = any(isinstance(step, migrations.CreateModel) for step in migration.operations)
        if makes and migration.app_label == "planner":
            with transaction.atomic():  # a row may refer to one further down
                for model in in_order(state.apps, filled):
                    fill(model, rows.get(model._meta.label_lower, []))
                    filled.add(model._meta.label_lower)
                    kept[model._meta.db_table] = stored(model._meta.db_table)
                connection.check_constraints()
    return kept


def in_order(apps: Any, filled: set[str]) -> Iterator[type[models.Model]]:
    """Yield the models that are not filled yet, each after the models that it refers to."""
    left = [model for model in apps.get_models() if model._meta.app_label in APPS]
    left = [model for model in left if model._meta.label_lower not in filled]
    while left:
        names = {model._meta.label for model in left}
        model = next(
            model for model in left
            if not {field.related_model._meta.label for field in needs(model)} & (names - {model._meta.label})
        )  # fmt: skip
        yield model
        left.remove(model)


def needs(model: type[models.Model]) -> list[Any]:
    return [field for field in model._meta.concrete_fields if field.is_relation]


def fill(model: type[models.Model], rows: list[dict[str, Any]]) -> None:
    """Store rows in a table as it was then, or one generated row if there are none."""
    key = model._meta.pk
    if model._default_manager.exists():
        return  # its migration filled it from other tables
    for row in [{key.name: row["pk"], **row} for row in rows] or [{}]:
        values = {field.attname: value_of(field, row) for field in model._meta.concrete_fields}
        if not rows and isinstance(key, models.AutoField):
            del values[key.attname]
        made = model._default_manager.bulk_create([model(**values)])[0]
        # Fields that the model sets itself when a row is created.
        model._default_manager.filter(pk=made.pk).update(
            **{name: value for name, value in values.items() if name != key.attname}
        )
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            for statement in connection.ops.sequence_reset_sql(no_style(), [model]):
                cursor.execute(statement)


def value_of(field: Any, row: dict[str, Any]) -> Any:
    """Return a column's value: the row's, otherwise one that is not empty."""
    if field.name in row:
        return (field.target_field if field.is_relation else field).to_python(row[field.name])
    if field.is_relation:
        if field.related_model is field.model:
            return None
        found = field.related_model._default_manager.order_by("pk")
        return getattr(found.last(), field.target_field.attname, None)
    if field.choices:
        return field.choices[0][0]
    kinds = {
        models.UUIDField: uuid4(), models.DateTimeField: timezone.now() + timedelta(days=1),
        models.BooleanField: True,
        models.JSONField: field.get_default() if field.has_default() else [], models.BinaryField: b"kept",
        models.FloatField: 1.0, models.IntegerField: 1, models.TextField: "kept",
        models.CharField: f"kept {field.name}"[: field.max_length or 20],
    }  # fmt: skip
    return next(value for kind, value in kinds.items() if isinstance(field, kind))


def stored(table: str) -> list[Row]:
    """Return every row of a table, as strings."""
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT * FROM {connection.ops.quote_name(table)}")  # noqa: S608 - own tables
        columns = [column[0] for column in cursor.description]
        return [dict(zip(columns, map(_text, row), strict=True)) for row in cursor.fetchall()]


def _text(value: Any) -> str:
    return repr(bytes(value) if isinstance(value, memoryview) else value)


def changed(before: list[Row], after: list[Row]) -> dict[str, list[Row]]:
    """Return the changed rows by column, and the deleted rows under ""."""
    found: dict[str, list[Row]] = defaultdict(list)
    for row in before:
        same = [{name for name in row if name in now and now[name] == row[name]} for now in after]
        nearest = max(same, key=len, default=set())
        gone = [name for name in row if after and name in after[0] and name not in nearest]
        for name in gone if nearest else [""]:
            found[name].append(row)
    return found


def report(backup: Path) -> dict[str, Any]:
    """Upgrade a database from its beginning; return the changed rows, and the tables without rows."""
    kept = migrate_and_fill(past_rows(backup))
    connection.check_constraints()
    tables = connection.introspection.table_names()
    now = {table: stored(table) for table in tables}
    differing = {table: sorted(changed(rows, now[table])) for table, rows in kept.items()}
    return {
        "filled": sorted(kept),
        "changed": {table: columns for table, columns in differing.items() if columns},
        "fewer": sorted(table for table, rows in kept.items() if len(now[table]) < len(rows)),
        "empty": sorted(table for table in tables if not now[table]),
    }


if __name__ == "__main__":
    print(json.dumps(report(Path(sys.argv[1]))))  # noqa: T201 - read by the test
