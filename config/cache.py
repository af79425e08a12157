"""The cache of recomputable values. Values are JSON, so that writing to the cache cannot execute code."""

import json
import os
import time
from collections.abc import Iterable
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import IO, Any

from django.core.cache.backends.base import DEFAULT_TIMEOUT
from django.core.cache.backends.filebased import FileBasedCache
from django.core.cache.backends.redis import RedisCache, RedisCacheClient
from redis.exceptions import RedisError
from redis.typing import KeyT

LARGEST = 4 * 2**20
"""The size limit of a value; larger ones are computed each time."""


class TooLarge(ValueError):
    """The value is too large for the cache."""


class JsonSerializer:
    """Serializes values as JSON; integers keep the form that Redis increments."""

    def dumps(self, value: Any) -> bytes:
        """Return the bytes of a value, or raise TooLarge."""
        content = json.dumps(value, separators=(",", ":")).encode()
        if len(content) > LARGEST:
            raise TooLarge
        return content

    def loads(self, content: bytes) -> Any:
        """Return the value of bytes."""
        return json.loads(content)


class _Client(RedisCacheClient):
    def add(self, key: KeyT, value: Any, timeout: int | timedelta | None) -> Any:
        with suppress(RedisError, TooLarge):
            return super().add(key, value, timeout)
        return True

    def get(self, key: KeyT, default: Any) -> Any:
        with suppress(RedisError, ValueError):
            return super().get(key, default)
        return default

    def set(self, key: KeyT, value: Any, timeout: int | timedelta | None) -> None:
        with suppress(RedisError, TooLarge):
            super().set(key, value, timeout)

    def delete(self, key: KeyT) -> bool:
        with suppress(RedisError):
            return super().delete(key)
        return False

    def get_many(self, keys: Iterable[KeyT]) -> dict[KeyT, Any]:
        with suppress(RedisError, ValueError):
            return super().get_many(keys)
        return {}

    def incr(self, key: KeyT, delta: int) -> int:
        with suppress(RedisError):
            return int(super().incr(key, delta))
        return delta


class OptionalRedisCache(RedisCache):
    """Caches nothing while Redis is unavailable or full, instead of failing the page."""

    def __init__(self, server: str, params: dict[str, Any]) -> None:
        options = {**params.get("OPTIONS", {}), "serializer": JsonSerializer()}
        super().__init__(server, {**params, "OPTIONS": options})
        self._class = _Client


class JsonFileCache(FileBasedCache):
    """Files of this machine, `MAX_BYTES` together; the oldest go first."""

    def __init__(self, folder: str, params: dict[str, Any]) -> None:
        self._most = params["OPTIONS"]["MAX_BYTES"]
        super().__init__(folder, params)
        self._serializer = JsonSerializer()

    def get(self, key: Any, default: Any = None, version: int | None = None) -> Any:
        """Return the cached value, unless it has expired or has another format."""
        with (
            suppress(FileNotFoundError, ValueError),
            Path(self._key_to_file(key, version)).open("rb") as file,
        ):
            if not self._is_expired(file):
                return self._serializer.loads(file.read())
        return default

    def set(
        self, key: Any, value: Any, timeout: float | None = DEFAULT_TIMEOUT, version: int | None = None
    ) -> None:
        """Cache a value unless it is too large."""
        with suppress(TooLarge):
            super().set(key, value, timeout, version)

    def _write_content(self, file: IO[bytes], timeout: float | None, value: Any) -> None:
        content = self._serializer.dumps(value)
        file.write(json.dumps(self.get_backend_timeout(timeout)).encode() + b"\n" + content)

    def _is_expired(self, file: IO[bytes]) -> bool:
        try:
            ends = json.loads(file.readline(100))
        except ValueError:
            ends = 0  # another program wrote it
        expired = ends is not None and ends < time.time()
        if expired:
            self._delete(file.name)
        return expired

    def _cull(self) -> None:
        kept = []
        for path in self._list_cache_files():
            with suppress(FileNotFoundError):
                about = os.stat(path)
                kept.append((about.st_mtime, about.st_size, path))
        total = sum(size for _, size, _ in kept)
        for place, (_, size, path) in enumerate(sorted(kept)):
            if total <= self._most - LARGEST and len(kept) - place < self._max_entries:
                return
            self._delete(path)
            total -= size
