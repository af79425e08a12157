"""Installations on the default broker and database, and on Redis and PostgreSQL."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from itertools import count
from pathlib import Path

import pytest

from tests.needs import unavailable
from tests.processes import services
from tests.processes.installation import Installation

Databases = Callable[..., str]


@pytest.fixture(scope="session")
def databases() -> Iterator[Databases]:
    """Return a factory of databases with tables and no rows: each call returns the address of a new one.

    With `template="template1"` the database has no tables either.
    """
    programs = services.postgresql_programs()
    if programs is None:
        unavailable("PostgreSQL is not installed (scripts/install-test-services installs it)")
    assert programs is not None
    with services.postgresql(programs) as server:
        names = (f"copy_{number}" for number in count())
        yield lambda **options: server.create_database(next(names), **options)


@pytest.fixture(params=["defaults", pytest.param("redis-postgresql", marks=pytest.mark.service)])
def installation(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Installation]:
    with ExitStack() as stack:
        if request.param == "defaults":
            installation = Installation(tmp_path, {})
        else:
            redis = services.redis_server()
            if redis is None:
                unavailable("Redis is not installed (scripts/install-test-services installs it)")
            assert redis is not None
            variables = {
                "REDIS_URL": stack.enter_context(services.redis(redis)).url,
                "DATABASE_URL": request.getfixturevalue("databases")(),
            }
            installation = Installation(tmp_path, variables, has_tables=True)
        stack.callback(installation.close)
        yield installation
