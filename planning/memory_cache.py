"""A cache of unpacked values in this process, bounded by size."""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

Value = TypeVar("Value")

IDLE_SECONDS = 900.0


class MemoryCache(Generic[Value]):
    """Values by key, bounded by their total size; the least recently used goes first."""

    def __init__(self, most: int, size_of: Callable[[Value], int]) -> None:
        self._most = most
        self._size_of = size_of
        self._held: OrderedDict[Hashable, tuple[Value, int, float]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Hashable, make: Callable[[], Value]) -> Value:
        """Return a value; a new one stays at least until another one needs its space."""
        with self._lock:
            found = self._held.get(key)
            if found is not None:
                self._held.move_to_end(key)
                self._held[key] = (found[0], found[1], time.monotonic())
        if found is not None:
            return found[0]
        value = make()
        with self._lock:
            self._held[key] = (value, self._size_of(value), time.monotonic())
            self._held.move_to_end(key)
            self._tidy()
        return value

    def _tidy(self) -> None:
        latest = time.monotonic() - IDLE_SECONDS
        total = sum(size for _, size, _ in self._held.values())
        while len(self._held) > 1:
            _, size, read = next(iter(self._held.values()))
            if total <= self._most and read > latest:
                return
            self._held.popitem(last=False)
            total -= size
