"""Secrets of an imported cluster reach neither Redis, logs, files, backups nor responses."""

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pytest
import redis

from tests import factories
from tests.manifests.test_stripping import SECRET, planted
from tests.needs import unavailable
from tests.processes import services
from tests.processes.conftest import Databases
from tests.processes.installation import Installation
from tests.processes.topology import Web


def in_redis(url: str) -> Iterator[tuple[str, bytes]]:
    """Yield every key of every database of a Redis with its value."""
    with redis.Redis.from_url(url) as server:
        count = int(server.config_get("databases")["databases"])
    for number in range(count):
        with redis.Redis.from_url(url, db=number) as server:
            for key in server.scan_iter():
                yield f"Redis {number} {key!r}", key + (server.dump(key) or b"")


def in_files(folder: Path) -> Iterator[tuple[str, bytes]]:
    """Yield every file, unpacked where it is packed."""
    for path in folder.rglob("*"):
        if path.is_file():
            content = path.read_bytes()
            yield str(path), gzip.decompress(content) if path.suffix == ".gz" else content


@pytest.mark.service
def test_planted_secret_is_in_no_file_response_log_or_store(tmp_path: Path, databases: Databases) -> None:
    program = services.redis_server()
    if program is None:
        unavailable("Redis is not installed (scripts/install-test-services installs it)")
    assert program is not None
    # Small values are stored uncompressed, so that a search in the bytes finds them.
    with services.redis(program, "--rdbcompression", "no") as store:
        variables = {"REDIS_URL": store.url, "DATABASE_URL": databases(), "QUEUECAST_LOG_LEVEL": "DEBUG"}
        installed = Installation(tmp_path / "var", variables, has_tables=True)
        installed.patience = 300.0
        try:
            installed.collect_static()
            token = installed.drive("caller")[0]
            with (tmp_path / "web.log").open("wb") as log:
                server = Web(installed, services.free_port(), log)
            actual = used(installed, server, token)
            installed.manage("backup", str(tmp_path / "backup.jsonl.gz"))
            stored = [*in_redis(store.url), *in_files(tmp_path), *actual]
        finally:
            installed.close()
            server.kill()
    places = [place for place, content in stored if SECRET.encode() in content]
    assert places == []
    assert len([place for place, _ in stored if place.startswith("Redis")]) > 0, "something was searched"
    assert any(place.endswith("web.log") and content for place, content in stored)


def used(installed: Installation, server: Web, token: str) -> list[tuple[str, bytes]]:
    """Import a cluster with secrets, run it and read the pages; return the responses."""
    document = planted(factories.cluster()) | {"scheduler_conf": factories.CONF}
    answers = []

    def call(path: str, body: Any = None) -> Any:
        headers = {"Authorization": f"Token {token}", "Content-Type": "application/json"}
        content = None if body is None else json.dumps(body).encode()
        with urlopen(Request(f"{server.address}/api/v1/{path}", content, headers)) as answer:  # noqa: S310
            answers.append((path, answer.read()))
        return json.loads(answers[-1][1])

    snapshot = call("snapshots/", {"name": "c", "documents": json.dumps(document)})
    scenario = call("scenarios/", {"name": "x", "snapshot": snapshot["id"]})
    call(f"scenarios/{scenario['id']}/preview/")
    run = call(f"scenarios/{scenario['id']}/runs/", {})
    installed.start_worker()
    installed.drive("await_runs", run["id"])
    for part in ("", "input/", "result/", "queues/", "explain/steps/1/"):
        call(f"runs/{run['id']}/{part}")
    return answers
