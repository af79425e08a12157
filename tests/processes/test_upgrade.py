"""Upgrading a database with rows in every table from the first migration on loses nothing."""

import json
from pathlib import Path

import pytest

from tests.processes.conftest import Databases
from tests.processes.installation import Installation

UNUSED = {
    "auth_group", "auth_group_permissions", "auth_permission", "auth_user_groups",
    "auth_user_user_permissions", "django_content_type", "django_session",
}  # fmt: skip
"""Tables of Django's that are not used here."""
PACKED = "planner_decision"
"""Decisions are packed into parts; the next release drops their table."""
ON_PURPOSE: dict[str, list[str]] = {"planner_publiclink": ["id"]}
"""Intended changes of an upgrade: the id of a public link is no longer its secret."""


@pytest.fixture(
    params=[
        pytest.param("sqlite", marks=pytest.mark.long),
        pytest.param("postgresql", marks=pytest.mark.service),
    ]
)
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of a database without tables."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'old.sqlite3'}"
    databases: Databases = request.getfixturevalue("databases")
    return databases(template="template1")


def test_upgraded_database_keeps_its_rows_and_responses(tmp_path: Path, address: str) -> None:
    today = Installation(tmp_path / "today", {})
    upgraded = Installation(tmp_path / "var", {"DATABASE_URL": address}, has_tables=True)
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
    finally:
        today.close()
        upgraded.close()
