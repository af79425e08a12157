"""Upgrading a database with rows in every table from the first migration on loses nothing."""

import json
import shutil
from pathlib import Path

import pytest

from tests.kept import empty_database
from tests.processes.conftest import Databases
from tests.processes.installation import Installation

UNUSED = {
    "auth_group", "auth_group_permissions", "auth_permission", "auth_user_groups",
    "auth_user_user_permissions", "django_content_type", "django_session",
}  # fmt: skip
"""Tables of Django's that are not used here."""
PACKED = "planner_decision"
"""Decisions are packed into parts; the next release drops their table."""
NARROWER = "auth_group_permissions"
"""An unused table of Django's: PostgreSQL's ids in it are larger when migrations create it."""
ON_PURPOSE: dict[str, list[str]] = {"planner_publiclink": ["id"]}
"""Intended changes of an upgrade: the id of a public link is no longer its secret."""


@pytest.fixture(
    params=[
        pytest.param("sqlite", marks=pytest.mark.long),
        pytest.param("postgresql", marks=pytest.mark.service),
    ]
)
def addresses(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[str, str]:
    """The addresses of a database without tables, and of one with the tables of a first start."""
    if request.param == "sqlite":
        new = shutil.copy(empty_database(), tmp_path / "new.sqlite3")
        return f"sqlite:///{tmp_path / 'old.sqlite3'}", f"sqlite:///{new}"
    databases: Databases = request.getfixturevalue("databases")
    return databases(template="template1"), databases()


def test_upgraded_database_keeps_its_rows_and_responses(tmp_path: Path, addresses: tuple[str, str]) -> None:
    """Its tables equal those of a first start, which come from the models and not from migrations."""
    old, new = addresses
    today = Installation(tmp_path / "today", {})
    upgraded = Installation(tmp_path / "var", {"DATABASE_URL": old}, has_tables=True)
    fresh = Installation(tmp_path / "fresh", {"DATABASE_URL": new}, has_tables=True)
    today.patience = upgraded.patience = 400.0
    file = tmp_path / "rows.jsonl.gz"
    try:
        today.collect_static()
        upgraded.collect_static()
        named = today.drive("furnish")
        today.manage("backup", str(file))
        output = today.drive("answers", named)
        report = json.loads(upgraded.module("tests.processes.history", str(file)))
        assert report["fewer"] == [PACKED]
        assert set(report["empty"]) == {PACKED, *UNUSED}
        report["changed"].pop(PACKED)
        assert report["changed"] == ON_PURPOSE
        assert upgraded.drive("answers", named) == output
        tables, created = upgraded.drive("schema"), fresh.drive("schema")
        assert tables.keys() == {PACKED, *created}
        assert {name for name in created if tables[name] != created[name]} <= {NARROWER}
    finally:
        for installation in (today, upgraded, fresh):
            installation.close()
