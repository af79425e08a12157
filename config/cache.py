"""What becomes of what is kept in Redis when Redis is away?"""

from collections.abc import Iterable
from contextlib import suppress
from datetime import timedelta
from typing import Any

from django.core.cache.backends.redis import RedisCache, RedisCacheClient
from redis.exceptions import ConnectionError as Away
from redis.exceptions import TimeoutError as Silent
from redis.typing import KeyT


class _Client(RedisCacheClient):
    def add(self, key: KeyT, value: Any, timeout: int | timedelta | None) -> Any:
        with suppress(Away, Silent):
            return super().add(key, value, timeout)
        return True

    def get(self, key: KeyT, default: Any) -> Any:
        with suppress(Away, Silent):
            return super().get(key, default)
        return default

    def set(self, key: KeyT, value: Any, timeout: int | timedelta | None) -> None:
        with suppress(Away, Silent):
            super().set(key, value, timeout)

    def delete(self, key: KeyT) -> bool:
        with suppress(Away, Silent):
            return super().delete(key)
        return False

    def get_many(self, keys: Iterable[KeyT]) -> dict[KeyT, Any]:
        with suppress(Away, Silent):
            return super().get_many(keys)
        return {}

    def incr(self, key: KeyT, delta: int) -> int:
        with suppress(Away, Silent):
            return int(super().incr(key, delta))
        return delta


class OptionalRedisCache(RedisCache):
    """Keeps nothing while Redis is away, instead of failing the page: what is kept can be counted again."""

    def __init__(self, server: str, params: dict[str, Any]) -> None:
        super().__init__(server, params)
        self._class = _Client
