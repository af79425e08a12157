"""An empty database gets its tables at once, but only from a `migrate` that is to apply everything."""

from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path

import pytest
from django.core.management import call_command
from django.db import connections
from pytest_django import DjangoDbBlocker

from planner.accounts.models import Workspace


@pytest.fixture
def empty(tmp_path: Path, django_db_blocker: DjangoDbBlocker) -> Iterator[str]:
    """The alias of an empty SQLite database."""
    place = {"ENGINE": "django.db.backends.sqlite3", "NAME": tmp_path / "empty.sqlite3"}
    connections.databases["empty"] = connections.configure_settings({"default": place})["default"]
    with django_db_blocker.unblock():
        yield "empty"
    connections["empty"].close()
    del connections["empty"], connections.databases["empty"]


@pytest.mark.parametrize("option", ["check_unapplied", "plan"])
def test_a_question_about_migrations_creates_no_table(empty: str, option: str) -> None:
    with pytest.raises(SystemExit) if option == "check_unapplied" else nullcontext():
        call_command("migrate", database=empty, verbosity=0, **{option: True})
    assert connections[empty].introspection.table_names() == []


def test_tables_are_created_with_the_default_workspace_and_no_migration_is_left(empty: str) -> None:
    call_command("migrate", database=empty, verbosity=0)
    call_command("migrate", database=empty, verbosity=0, check_unapplied=True)
    assert [workspace.name for workspace in Workspace.objects.using(empty)] == [Workspace.DEFAULT]
