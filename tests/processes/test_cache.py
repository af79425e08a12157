"""While Redis is down nothing is cached, and no page fails."""

from collections.abc import Iterator

import pytest

from config.cache import OptionalRedisCache
from tests.needs import unavailable
from tests.processes import services


@pytest.fixture
def redis() -> Iterator[services.Redis]:
    program = services.redis_server()
    if program is None:
        unavailable("Redis is not installed (scripts/install-test-services installs it)")
    with services.redis(program) as running:
        yield running


@pytest.mark.service
def test_cache_is_empty_while_redis_is_down_and_works_again_afterwards(redis: services.Redis) -> None:
    cache = OptionalRedisCache(redis.url, {})
    cache.set("share", 0.5)
    assert (cache.get("share"), cache.get_many(["share"])) == (0.5, {"share": 0.5})
    assert cache.add("tries", 1)
    assert not cache.add("tries", 1)
    assert cache.incr("tries") == 2

    redis.kill()
    cache.set("share", 0.7)
    assert (cache.get("share"), cache.get("share", 0.0), cache.get_many(["share"])) == (None, 0.0, {})
    assert cache.add("tries", 1)
    assert cache.incr("tries") == 1
    assert not cache.delete("share")

    redis.start()
    assert cache.get("share") is None
    cache.set("share", 0.9)
    assert cache.get("share") == 0.9
