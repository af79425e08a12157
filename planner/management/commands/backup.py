"""`manage.py backup FILE`: everything that this installation keeps, in one file."""

import gzip
import os
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

from django.apps import apps
from django.core import serializers
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.core.serializers.json import DjangoJSONEncoder
from django.db import connection, models, transaction

APPS = ("auth", "knox", "planner")
LEFT_OUT = ("auth.Permission", "planner.Session", "planner.Worker", "planner.IdempotencyKey")
SUFFIX = ".jsonl.gz"


class Command(BaseCommand):
    """The file fits every database, whichever the other side uses."""

    help = f"Write accounts, tokens (hashed), scenarios, runs and results to FILE, which ends in {SUFFIX}."

    def add_arguments(self, parser: CommandParser) -> None:
        """Take the file."""
        parser.add_argument("file", type=Path)

    def handle(self, *, file: Path, **options: Any) -> None:
        """Write it whole or not at all, readable by its owner only."""
        if not file.name.endswith(SUFFIX):
            raise CommandError(f"{file} does not end in {SUFFIX}.")
        draft = file.with_name(f".{os.getpid()}-{file.name}")
        draft.touch(mode=0o600)
        try:
            with gzip.open(draft, "wt", encoding="utf-8") as stream:
                _write(stream)
            draft.replace(file)
        finally:
            draft.unlink(missing_ok=True)
        self.stdout.write(f"{file}: {file.stat().st_size / 2**20:.1f} MiB")


class _Exact(DjangoJSONEncoder):
    """Keeps microseconds, by which things are ordered."""

    def default(self, o: Any) -> Any:
        return o.isoformat() if isinstance(o, datetime) else super().default(o)


@transaction.atomic
def _write(stream: Any) -> None:
    """Write the state of one moment, whoever goes on writing meanwhile."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
    serializers.serialize("jsonl", _kept(), stream=stream, cls=_Exact)


def _kept() -> Iterator[models.Model]:
    for app in APPS:
        for model in apps.get_app_config(app).get_models():
            if model._meta.label not in LEFT_OUT:
                yield from model._default_manager.order_by("pk").iterator(chunk_size=500)
