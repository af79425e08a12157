"""Accounts from before the custom user model keep their rows, passwords and memberships."""

import gzip
from pathlib import Path

import pytest

from tests.processes.conftest import Databases
from tests.processes.installation import Installation

OLD = """
from django.contrib.auth.hashers import make_password
from django.db import connection
password = make_password("a-long-test-password")
with connection.cursor() as rows:
    rows.execute(
        "insert into auth_user (username, password, email, is_superuser, is_staff, is_active, first_name,"
        " last_name, date_joined) values ('old', %s, 'old@example.org', %s, %s, %s, '', '', %s)",
        [password, True, False, True, "2026-01-01 00:00:00+00:00"],
    )
    rows.execute("select id from auth_user")
    [[user]] = rows.fetchall()
    rows.execute("select id from planner_workspace")
    [[workspace]] = rows.fetchall()
    rows.execute(
        "insert into planner_membership (id, workspace_id, user_id, role, created)"
        " values (%s, %s, %s, 'admin', %s)",
        ["a" * 32, workspace, user, "2026-01-01 00:00:00+00:00"],
    )
    rows.execute("update django_content_type set app_label = 'auth' where model = 'user'")
"""
NOW = """
from django.contrib.auth import authenticate
from django.contrib.contenttypes.models import ContentType
from planner.models import User
account = User.objects.get()
assert authenticate(username="old", password="a-long-test-password") == account
print(account.email, account.memberships.get(), User.objects.create_user("new").pk > account.pk)
print([kind.app_label for kind in ContentType.objects.filter(model="user")])
"""


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.service)])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of a database without tables."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'old.sqlite3'}"
    databases: Databases = request.getfixturevalue("databases")
    return databases(template="template1")


# Released migrations do not change; test_upgrade runs accounts through all of them.
@pytest.mark.long
def test_upgraded_database_keeps_its_accounts(tmp_path: Path, address: str) -> None:
    installed = Installation(tmp_path / "var", {"DATABASE_URL": address}, has_tables=True)
    installed.manage("migrate", "--verbosity", "0", "planner", "0016")
    installed.manage("shell", "--verbosity", "0", "--command", OLD)
    installed.manage("migrate", "--verbosity", "0")
    actual = installed.manage("shell", "--verbosity", "0", "--command", NOW).splitlines()
    assert actual == ["old@example.org old is admin of default True", "['planner']"]


def test_older_backup_restores_its_accounts(tmp_path: Path) -> None:
    installed = Installation(tmp_path / "var", {})
    installed.drive("admin")
    installed.close()
    file = tmp_path / "backup.jsonl.gz"
    installed.manage("backup", str(file))
    _, *rows, _ = gzip.decompress(file.read_bytes()).splitlines(keepends=True)
    older = b"".join(rows).replace(b'{"model": "planner.user"', b'{"model": "auth.user"')
    assert b'"auth.user"' in older
    file.write_bytes(gzip.compress(older))
    new = Installation(tmp_path / "new", {})
    assert "--without-seal" in new.complaint("restore", str(file))
    assert "Restored 1 accounts" in new.manage("restore", "--without-seal", str(file))
