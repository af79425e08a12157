"""Installations on the default broker and database, and on Redis and PostgreSQL."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.needs import unavailable
from tests.processes import services
from tests.processes.installation import Installation


@pytest.fixture(params=["defaults", pytest.param("redis-postgresql", marks=pytest.mark.service)])
def installation(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Installation]:
    with ExitStack() as stack:
        variables = {} if request.param == "defaults" else _services(stack)
        installation = Installation(tmp_path, variables)
        stack.callback(installation.close)
        yield installation


def _services(stack: ExitStack) -> dict[str, str]:
    redis, programs = services.redis_server(), services.postgresql_programs()
    if redis is None or programs is None:
        unavailable("Redis or PostgreSQL is not installed (scripts/install-test-services installs both)")
    assert redis is not None
    assert programs is not None
    return {
        "REDIS_URL": stack.enter_context(services.redis(redis)).url,
        "DATABASE_URL": stack.enter_context(services.postgresql(programs)).url,
    }
