"""Backup files, and how they are checked.

JSON lines in gzip: a header, a line for each row, and a seal: number and hash of the rows of each kind.
"""

import base64
import gzip
import hashlib
import json
import re
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import IO, Any

from django.apps import apps
from django.core import serializers
from django.core.management.color import no_style
from django.core.serializers.base import DeserializationError
from django.core.serializers.json import DjangoJSONEncoder
from django.db import DEFAULT_DB_ALIAS, DatabaseError, connection, connections, models, transaction
from django.db.migrations.recorder import MigrationRecorder
from django.utils import timezone

from planning.version import ENGINE_VERSION

FORMAT = "queuecast backup 1"
APPS = ("auth", "knox", "planner")
LEFT_OUT = (
    "auth.Permission",
    "planner.Session",
    "planner.Worker",
    "planner.IdempotencyKey",
    "planner.Backup",
)
_OLD_ACCOUNT = re.compile(r'^{"model": "auth\.user"')


class Unfit(Exception):
    """The file is no backup that can be restored here; the text says why, and what to do."""


class Seal:
    """The number of rows of each kind, and a hash of them that ignores their order."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._sums: defaultdict[str, int] = defaultdict(int)

    def add(self, line: str) -> None:
        """Count a row; raise Unfit for a damaged document."""
        # Databases write the same number differently: 1e22 comes back from PostgreSQL as an integer.
        row = json.loads(line, parse_int=float)
        if row["model"] == "planner.blob":
            _document_check(row)
        hashed = hashlib.sha256(json.dumps(row, sort_keys=True).encode()).digest()
        self._counts[row["model"]] += 1
        self._sums[row["model"]] = (self._sums[row["model"]] + int.from_bytes(hashed)) % 2**256

    @property
    def rows(self) -> int:
        """Return the number of rows."""
        return self._counts.total()

    @property
    def body(self) -> dict[str, dict[str, Any]]:
        """Return the seal as it is written to the file."""
        return {
            name: {"rows": count, "sha256": f"{self._sums[name]:064x}"}
            for name, count in sorted(self._counts.items())
        }


def archive_write(stream: IO[str]) -> Seal:
    """Write a consistent state, while others continue to write."""
    header = {
        "format": FORMAT,
        "created": timezone.now().isoformat(),
        "engine": ENGINE_VERSION,
        "migrations": migrations(),
    }
    stream.write(f"{json.dumps(header)}\n")
    seal = Seal()
    with _one_moment():
        for line in kept_lines():
            seal.add(line)
            stream.write(f"{line}\n")
    stream.write(f"{json.dumps({'seal': seal.body})}\n")
    return seal


def archive_check(file: Path) -> Seal:
    """Read a file completely and return its seal; raise Unfit if it is incomplete."""
    seal, found = Seal(), None
    with _lines(file) as lines:
        _header_check(file, lines.readline())
        for line in lines:
            if found is not None:
                raise Unfit(f"{file} goes on after its end.")
            found = json.loads(line).get("seal") if line.startswith('{"seal"') else None
            if found is None:
                seal.add(line)
    if found is None:
        raise Unfit(f"{file} is cut off. Use another copy of it.")
    _same(file.name, found, seal)
    return seal


def archive_load(file: Path, *, is_sealed: bool = True, using: str = DEFAULT_DB_ALIAS) -> Seal:
    """Load a file into an empty database, in one transaction. Return the seal of the stored rows."""
    kinds: set[type[models.Model]] = set()
    connection = connections[using]
    with transaction.atomic(using):
        # The workspace that migrations created; the backup has its own.
        apps.get_model("planner.Workspace").objects.using(using).all().delete()
        try:
            with _lines(file) as lines, connection.constraint_checks_disabled():
                for row in serializers.deserialize("jsonl", _rows(lines), using=using):
                    row.save(using=using, force_insert=True)
                    kinds.add(type(row.object))
            connection.check_constraints()
        except (DeserializationError, DatabaseError) as error:
            raise Unfit(f"{file} does not fit this release: {error}") from error
        with connection.cursor() as cursor:
            for statement in connection.ops.sequence_reset_sql(no_style(), sorted(kinds, key=str)):
                cursor.execute(statement)
        stored = Seal()
        for line in kept_lines(using):
            stored.add(line)
        if is_sealed:
            _same("The database", archive_check(file).body, stored)
    return stored


def archive_try(file: Path, folder: Path) -> None:
    """Load a file into a temporary database in a folder; raise Unfit if that fails."""
    alias = "scratch"
    connections.databases[alias] = connections.configure_settings(
        {DEFAULT_DB_ALIAS: {"ENGINE": "django.db.backends.sqlite3", "NAME": folder / "scratch.sqlite3"}}
    )[DEFAULT_DB_ALIAS]
    try:
        with connections[alias].schema_editor() as editor:
            for model in apps.get_models():
                editor.create_model(model)
        archive_load(file, using=alias)
    finally:
        connections[alias].close()
        del connections[alias], connections.databases[alias]


def kept_lines(using: str = DEFAULT_DB_ALIAS) -> Iterator[str]:
    """Yield every row for a backup."""
    for app in APPS:
        for model in apps.get_app_config(app).get_models():
            if model._meta.label not in LEFT_OUT:
                for row in model._default_manager.using(using).order_by("pk").iterator(chunk_size=100):
                    yield serializers.serialize("jsonl", [row], cls=_Exact).rstrip("\n")


def migrations() -> dict[str, str]:
    """Return the last applied migration of this database, by app."""
    applied = MigrationRecorder(connection).applied_migrations()
    return {app: max((name for at, name in applied if at == app), default="none") for app in APPS}


class _Exact(DjangoJSONEncoder):
    """Keeps microseconds, by which things are ordered."""

    def default(self, o: Any) -> Any:
        return o.isoformat() if isinstance(o, datetime) else super().default(o)


@contextmanager
def _one_moment() -> Iterator[None]:
    """Read one state of the database. On SQLite no lock is taken, so that writers need not wait."""
    if connection.vendor == "postgresql":
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
            yield
    else:
        with connection.cursor() as cursor:
            cursor.execute("BEGIN DEFERRED")
            try:
                yield
            finally:
                cursor.execute("ROLLBACK")


@contextmanager
def _lines(file: Path) -> Iterator[IO[str]]:
    """Open a file for reading; raise Unfit for invalid gzip or JSON."""
    try:
        with gzip.open(file, "rt", encoding="utf-8") as lines:
            yield lines
    except FileNotFoundError as error:
        raise Unfit(f"There is no file {file}.") from error
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise Unfit(
            f"{file} is damaged or cut off: {error}. Use another copy, or an older backup."
        ) from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise Unfit(f"{file} is not a backup of Queuecast.") from error


def _header_check(file: Path, line: str) -> None:
    header = json.loads(line)
    if header.get("format") != FORMAT:
        raise Unfit(f"{file} is not a sealed backup. One of an earlier release: restore with --without-seal.")


def made_at(file: Path) -> dict[str, str]:
    """Return the last migrations of the database that a checked file comes from."""
    with _lines(file) as lines:
        found: dict[str, str] = json.loads(lines.readline())["migrations"]
    return found


def _rows(lines: Iterable[str]) -> Iterator[str]:
    """Yield the rows without header and seal; accounts of old backups get the current model."""
    for line in lines:
        if not line.startswith(('{"format"', '{"seal"')):
            yield _OLD_ACCOUNT.sub('{"model": "planner.user"', line)


def _document_check(row: dict[str, Any]) -> None:
    unpacker, digest = zlib.decompressobj(), hashlib.sha256()
    packed = base64.b64decode(row["fields"]["packed"])
    try:
        for start in range(0, len(packed), 2**16):
            digest.update(unpacker.decompress(packed[start : start + 2**16]))
    except zlib.error:
        digest = hashlib.sha256(b"damaged")
    if digest.hexdigest() != row["pk"]:
        raise Unfit(f"The stored document {row['pk']} is damaged: its bytes do not have this hash.")


def _same(what: str, expected: dict[str, dict[str, Any]], found: Seal) -> None:
    wrong = sorted(
        name for name in expected.keys() | found.body.keys() if expected.get(name) != found.body.get(name)
    )
    if wrong:
        raise Unfit(f"{what} does not have the rows that the backup was sealed with: {', '.join(wrong)}.")
