"""Fixtures that all tests share."""

import gc
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.apps import apps
from django.contrib.auth.management import create_permissions
from django.contrib.contenttypes.management import create_contenttypes
from django.db import connection
from django.db.models.signals import post_migrate  # noqa: TID251 - it is silenced here
from hypothesis import HealthCheck, settings
from pytest_django import DjangoDbBlocker

from planner.accounts.models import Workspace
from tests import factories
from tests.kept import empty_database
from tests.needs import unavailable

# The same examples every time, whatever the load; QUEUECAST_EXAMPLES=1000 draws more examples, from a
# random seed.
settings.register_profile(
    "queuecast",
    derandomize="QUEUECAST_EXAMPLES" not in os.environ,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    print_blob=True,
)
settings.load_profile("queuecast")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Run the garbage collector rarely, not while tests are collected, and exclude the tests from it."""
    gc.disable()
    yield
    gc.collect()
    gc.freeze()
    gc.set_threshold(1_000_000)
    gc.enable()


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder with recorded answers and real clusters."""
    folder = Path(os.environ.get("QUEUECAST_SHARED", Path(__file__).parents[2] / "shared")).resolve()
    if not (folder / "golden").is_dir():
        unavailable(f"no recorded answers in {folder}; set QUEUECAST_SHARED")
    return folder


@pytest.fixture(scope="session")
def django_db_keepdb() -> bool:
    """Return whether the test database exists already: with SQLite it is a copy of an empty one."""
    return connection.vendor == "sqlite"


@pytest.fixture(scope="session")
def django_db_modify_db_settings(
    django_db_modify_db_settings_parallel_suffix: None, django_db_keepdb: bool
) -> None:
    """Start with a migrated database, in the temporary folder of the tests."""
    if django_db_keepdb:
        shutil.copy(empty_database(), connection.settings_dict["TEST"]["NAME"])


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> None:
    """Let tables be emptied quickly, and by PostgreSQL at all.

    Rows of permissions and kinds of content, which nobody reads, are not made again after each transactional
    test, but the default workspace is; and the table goes that no model has any more, as PostgreSQL would not
    empty the table to which it refers.
    """
    post_migrate.disconnect(dispatch_uid=f"{create_permissions.__module__}.{create_permissions.__name__}")
    post_migrate.disconnect(create_contenttypes)
    post_migrate.connect(_restore_default_workspace, sender=apps.get_app_config("planner"))
    with django_db_blocker.unblock(), connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("DROP TABLE IF EXISTS planner_decision")


def _restore_default_workspace(**_signal: object) -> None:
    """Restore the default workspace, which a migration creates and a flush deletes."""
    Workspace.objects.get_or_create(name=Workspace.DEFAULT)


@pytest.fixture
def editor(db: None):
    """An account with the editor role."""
    return factories.user("editor")
