"""Pages, log-in and submitting work with a cache that is full, down, or written by an attacker."""

import io
import json
import os
import pickle
import re
import time
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import redis as client
from django.conf import settings as django_settings
from django.core.cache import caches
from django.test import Client
from django.test.utils import override_settings
from hypothesis import given
from hypothesis import strategies as st

from config.cache import LARGEST, JsonFileCache, JsonSerializer, OptionalRedisCache
from planner.scenarios.selectors.preview import scenario_preview
from planner.scenarios.services.queues import queue_update
from planning.demands import demand_from, plain
from planning.memory_cache import MemoryCache
from scheduler_core.demand import demand_of
from tests import factories
from tests.needs import unavailable
from tests.processes import services
from tests.processes.installation import ROOT, Installation

ENTRIES = {"MAX_ENTRIES": 1000, "MAX_BYTES": 20_000_000}


class Bomb:
    """An object that runs a command when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __reduce__(self) -> Any:
        return os.mkdir, (str(self._path),)


@pytest.fixture
def full() -> Iterator[services.Redis]:
    """A full Redis that evicts nothing."""
    program = services.redis_server()
    if program is None:
        unavailable("Redis is not installed (scripts/install-test-services installs it)")
    assert program is not None
    with services.redis(program, "--maxmemory", "2mb", "--maxmemory-policy", "noeviction") as server:
        connection = client.Redis.from_url(server.url)
        fill(connection)
        connection.close()
        yield server


def fill(connection: Any) -> None:
    for number in range(10_000):
        try:
            connection.set(f"junk{number}", b"x" * 10_000)
        except client.exceptions.OutOfMemoryError:
            return
    raise AssertionError("it took everything")


def in_redis(url: str) -> override_settings:
    return override_settings(CACHES={"default": {**CACHE, "LOCATION": url}})


CACHE = {"BACKEND": "config.cache.OptionalRedisCache", "TIMEOUT": 86_400}


@pytest.mark.service
def test_pages_and_login_work_with_a_full_redis(full: services.Redis, db: None) -> None:
    scenario = factories.scenario()
    factories.user("editor")
    with in_redis(full.url):
        browser = Client()
        right = {"username": "editor", "password": "a-long-test-password"}
        assert browser.post("/login/", right).status_code == 302
        for address in ("/", "/import/", f"/scenarios/{scenario.pk}/", "/status/", "/account/"):
            assert browser.get(address).status_code == 200, address
        queue_update(scenario=scenario, name="waits", patch={"weight": 3}, expected_revision=1)
        assert scenario_preview(scenario).queues["waits"].in_session
        previewed = browser.post("/import/", {"documents": json.dumps(factories.cluster())})
        assert previewed.status_code == 200
        caches["default"].close()


@pytest.mark.service
def test_run_can_be_submitted_while_the_broker_is_full(full: services.Redis, tmp_path: Path) -> None:
    installation = Installation(tmp_path, {"REDIS_URL": full.url})
    try:
        assert len(installation.drive("submit", "1", "1")) == 1
    finally:
        installation.close()


@pytest.mark.service
def test_attacker_who_writes_to_redis_cannot_execute_code(tmp_path: Path) -> None:
    program = services.redis_server()
    if program is None:
        unavailable("Redis is not installed (scripts/install-test-services installs it)")
    assert program is not None
    with services.redis(program) as server:
        connection = client.Redis.from_url(server.url)
        cache = OptionalRedisCache(server.url, {})
        cache.set("a", 1)
        [key] = connection.keys()
        connection.set(key, pickle.dumps(Bomb(tmp_path / "pwned")))
        assert cache.get("a", "nothing") == "nothing"
        assert cache.get_many(["a"]) == {}
        connection.close()
        cache.close()
    assert not (tmp_path / "pwned").exists()


def test_attacker_who_writes_to_the_cache_folder_cannot_execute_code(tmp_path: Path) -> None:
    cache = JsonFileCache(str(tmp_path), {"OPTIONS": ENTRIES})
    cache.set("a", [1, {"b": 0.5}])
    assert cache.get("a") == [1, {"b": 0.5}]
    [file] = tmp_path.glob("*.djcache")
    bomb = pickle.dumps(Bomb(tmp_path / "pwned"))
    for content in (
        bomb,
        pickle.dumps(None) + zlib.compress(bomb),
        b"null\n" + bomb,
        b"",
        b"\n",
        b"1e400\n{",
    ):
        file.write_bytes(content)
        assert cache.get("a", "nothing") == "nothing"
        assert not (tmp_path / "pwned").exists()


def test_cache_folder_is_bounded_in_bytes_entries_and_time(tmp_path: Path) -> None:
    cache = JsonFileCache(str(tmp_path), {"OPTIONS": {"MAX_ENTRIES": 50, "MAX_BYTES": 10_000_000}})
    for number in range(40):
        cache.set(f"large{number}", "x" * 1_000_000)
        assert sum(file.stat().st_size for file in tmp_path.iterdir()) <= 10_000_000
    assert cache.get("large39") is not None
    cache.set("too-large", "x" * LARGEST)
    assert cache.get("too-large") is None
    for number in range(200):
        cache.set(f"small{number}", number)
    assert len(list(tmp_path.iterdir())) <= 50
    cache.set("soon-over", 1, timeout=0.05)
    time.sleep(0.1)
    assert cache.get("soon-over") is None
    assert cache.add("counted", 1)
    assert cache.incr("counted") == 2


def test_no_cache_entry_is_kept_forever() -> None:
    """No call disables the timeout, and the default is one day."""
    for room in ("planner", "planning", "config"):
        for source in (ROOT / room).rglob("*.py"):
            text = source.read_text()
            assert "timeout=None" not in text, source
            assert not re.search(r"^\s*(import|from) (pickle|shelve|marshal|dill)", text, re.MULTILINE), (
                source
            )
    for cache in django_settings.CACHES.values():
        assert cache["TIMEOUT"] == 86_400
    assert django_settings.CELERY_ACCEPT_CONTENT == ["json"]


def test_cached_demand_of_a_cluster_equals_the_original() -> None:
    demand = demand_of(factories.cluster())
    again = demand_from(json.loads(json.dumps(plain(demand))))
    assert plain(again) == plain(demand)
    assert repr(again) == repr(demand)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers(-(2**63), 2**63) | st.floats(allow_nan=False) | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    )
)
def test_json_serializer_round_trips_any_value(value: Any) -> None:
    serializer = JsonSerializer()
    assert serializer.loads(serializer.dumps(value)) == value


def test_memory_cache_is_bounded_and_drops_unused_entries(monkeypatch: pytest.MonkeyPatch) -> None:
    cache: MemoryCache[bytes] = MemoryCache(100, len)
    made = []

    def take(key: int, size: int) -> bytes:
        def make() -> bytes:
            made.append(key)
            return bytes(size)

        return cache.get(key, make)

    for key in (1, 2, 1, 3, 1):
        take(key, 40)
    assert made == [1, 2, 3]
    take(2, 40)
    assert made == [1, 2, 3, 2], "the least recently used entry is evicted"
    take(9, 1000)
    take(1, 40)
    assert made[-2:] == [9, 1]
    now = time.monotonic()
    monkeypatch.setattr(time, "monotonic", lambda: now + 1000)
    take(8, 1)
    take(1, 40)
    assert made[-2:] == [8, 1]
    assert io.BytesIO(take(8, 1)).read() == b"\0"
