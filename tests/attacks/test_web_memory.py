"""Memory of the web process under hostile requests, each kind sent twenty times at once."""

import gzip
import http.client
import io
import json
import os
import sys
import tempfile
import threading
import uuid
import zipfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.processes import services
from tests.processes.installation import Installation
from tests.processes.topology import Web

MOST_MB = 400
TIMES = 20
MEGABYTE = 10**6


class Attack(NamedTuple):
    """One hostile request."""

    path: str
    kind: str
    body: bytes
    large: int = 0
    """The length that the head declares, if no body needs to follow."""


class Member(NamedTuple):
    """The credentials of a member."""

    token: str


def form(field: str, file: str, content: bytes, **texts: str) -> tuple[str, bytes]:
    boundary = uuid.uuid4().hex
    parts = [f'name="{key}"\r\n\r\n{text}' for key, text in texts.items()]
    parts.append(f'name="{field}"; filename="{file}"\r\n\r\n')
    head = "\r\n".join(f"--{boundary}\r\nContent-Disposition: form-data; {part}" for part in parts)
    return (
        f"multipart/form-data; boundary={boundary}",
        head.encode() + content + f"\r\n--{boundary}--\r\n".encode(),
    )


def zipped(**parts: bytes) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name.replace("_", "."), content)
    return packed.getvalue()


def many_entries(count: int) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for number in range(count):
            archive.writestr(f"{number}", b"")
    return packed.getvalue()


def snapshot(name: str, content: bytes) -> Attack:
    return Attack("/api/v1/snapshots/", *form("files", name, content))


def trace(content: bytes) -> Attack:
    return Attack("/api/v1/traces/", *form("file", "a.csv.gz", gzip.compress(content), name="x"))


def many_jobs(count: int) -> bytes:
    """Return a trace of many jobs whose last line is wrong."""
    lines = (b"%d,a,%d,60\n" % (number, number) for number in range(count))
    return b"name,queue,submit_seconds,run_seconds\n" + b"".join(lines) + b"last,a,never,60\n"


def bundle(content: bytes) -> Attack:
    return Attack("/api/v1/bundles/", *form("file", "run.zip", content))


URLENCODED, JSON = "application/x-www-form-urlencoded", "application/json"
ABOUT = json.dumps({"format": 1, "name": "x"}).encode()
ATTACKS: dict[str, Callable[[], Attack]] = {
    "urlencoded percent signs": lambda: Attack("/login/", URLENCODED, b"a=" + b"%41" * 340_000),
    "urlencoded beyond the limit": lambda: Attack("/login/", URLENCODED, b"", 210 * MEGABYTE),
    "urlencoded small": lambda: Attack("/login/", URLENCODED, b"a=" + b"%41" * 87_000),
    "multipart field": lambda: Attack("/login/", *form("a", "", b"x" * 2_500_000)),
    "multipart of many parts": lambda: Attack(
        "/login/",
        "multipart/form-data; boundary=x",
        b'--x\r\nContent-Disposition: form-data; name="a"\r\n\r\n' * 40_000,
    ),
    "multipart beyond the limit": lambda: Attack(
        "/import/", "multipart/form-data; boundary=x", b"", 300 * MEGABYTE
    ),
    "json lists": lambda: Attack("/api/v1/snapshots/", JSON, b"[" + b"[]," * 870_000 + b"1]"),
    "json objects": lambda: Attack("/api/v1/conf/lint/", JSON, b"[" + b'{"a":1},' * 325_000 + b"1]"),
    "json scenario": lambda: Attack(
        "/api/v1/snapshots/", JSON, b'{"name":"x","scenario":{"nodes":[' + b"{}," * 860_000 + b"{}]}}"
    ),
    "json beyond the limit": lambda: Attack("/api/v1/snapshots/", JSON, b"", 150 * MEGABYTE),
    "json file": lambda: snapshot("a.json", b'{"kind":"List","items":[' + b"{}," * 1_500_000 + b"{}]}"),
    "yaml documents": lambda: snapshot("a.yaml", b"---\nkind: A\n" * 300_000),
    "yaml lists": lambda: snapshot("a.yaml", b"a: [" + b"[]," * 1_500_000 + b"]"),
    "yaml small": lambda: snapshot("a.yaml", b"a: [" + b"[]," * 80_000 + b"]"),
    "gzip of zeros": lambda: snapshot("a.yaml.gz", gzip.compress(bytes(190 * MEGABYTE), 1)),
    "gzip of documents": lambda: snapshot("a.yaml.gz", gzip.compress(b"---\nkind: A\n" * 1_500_000)),
    "gzip of jobs": lambda: trace(many_jobs(250_000)),
    "gzip of zeros as a trace": lambda: trace(bytes(190 * MEGABYTE)),
    "zip bomb": lambda: bundle(
        zipped(bundle_json=ABOUT, input_json=bytes(390 * MEGABYTE), result_json=b"{}")
    ),
    "zip of json": lambda: bundle(
        zipped(bundle_json=ABOUT, input_json=b"[" + b"[]," * 4_000_000 + b"1]", result_json=b"{}")
    ),
    "zip with a large about": lambda: bundle(
        zipped(bundle_json=b"[" + b"[]," * 4_000_000 + b"1]", input_json=b"{}", result_json=b"{}")
    ),
    "zip of many entries": lambda: bundle(many_entries(60_000)),
}


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Web, Member]]:
    installation = Installation(tmp_path_factory.mktemp("web"), {"QUEUECAST_LOG_LEVEL": "CRITICAL"})
    installation.collect_static()
    installation.drive("admin")
    member = Member(installation.manage("token", "admin").strip())
    server = Web(installation, services.free_port())
    yield server, member
    server.kill()
    installation.close()


def peak_mb(web: Web) -> float:
    """Return the peak memory of any web process so far."""
    children = Path(f"/proc/{web.process.pid}/task/{web.process.pid}/children").read_text().split()
    assert len(children) >= 2
    return max(
        int(line.split()[1]) / 1024
        for pid in children
        for line in Path(f"/proc/{pid}/status").read_text().splitlines()
        if line.startswith("VmHWM")
    )


def send(web: Web, attack: Attack, headers: dict[str, str]) -> int:
    connection = http.client.HTTPConnection("127.0.0.1", web.port, timeout=120)
    try:
        connection.putrequest("POST", attack.path)
        statuses = {
            "Content-Type": attack.kind,
            "Content-Length": str(attack.large or len(attack.body)),
            **headers,
        }
        for name, value in statuses.items():
            connection.putheader(name, value)
        connection.endheaders()
        with suppress(OSError):  # it may have answered already
            connection.send(attack.body)
        return connection.getresponse().status
    except (OSError, http.client.HTTPException):
        return 0
    finally:
        connection.close()


def hostile(web: Web, attack: Attack, headers: dict[str, str]) -> list[int]:
    """Send a request many times concurrently; return the statuses, 0 for a closed connection."""
    statuses: list[int] = []
    threads = [
        threading.Thread(target=lambda: statuses.append(send(web, attack, headers))) for _ in range(TIMES)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return statuses


@pytest.mark.long
@pytest.mark.parametrize("caller", ["anonymous", "member"])
@pytest.mark.parametrize("name", ATTACKS)
def test_concurrent_hostile_requests_stay_within_the_memory_limit(
    web: tuple[Web, Member], name: str, caller: str
) -> None:
    server, member = web
    attack = ATTACKS[name]()
    # A browser's form reaches the field parser; an API call gets as far as its token allows.
    headers = {"Cookie": f"csrftoken={'a' * 32}"}
    if caller == "member":
        headers["Authorization"] = f"Token {member.token}"
    statuses = hostile(server, attack, headers)
    assert set(statuses) <= {0, 202, 400, 401, 403, 408, 411, 413, 422, 503}, statuses
    if caller == "anonymous":
        assert set(statuses) <= {0, 400, 401, 403, 413, 503}, statuses
    assert peak_mb(server) < MOST_MB, f"{name}: {peak_mb(server):.0f} MB"
    assert os.path.exists(f"/proc/{server.process.pid}")
    page = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
    page.request("GET", "/login/")
    assert page.getresponse().status == 200
    page.close()


def main() -> None:
    """Print the peak memory of a fresh web process after each attack."""
    for name, make in ATTACKS.items():
        for caller in ("anonymous", "member"):
            with tempfile.TemporaryDirectory() as folder:
                installation = Installation(Path(folder), {"QUEUECAST_LOG_LEVEL": "CRITICAL"})
                installation.collect_static()
                installation.drive("admin")
                token = installation.manage("token", "admin").strip()
                web = Web(installation, services.free_port())
                headers = {"Cookie": f"csrftoken={'a' * 32}"}
                if caller == "member":
                    headers["Authorization"] = f"Token {token}"
                before = peak_mb(web)
                statuses = hostile(web, make(), headers)
                statuses = ", ".join(
                    f"{statuses.count(status)} × {status or 'cut'}" for status in sorted(set(statuses))
                )
                sys.stdout.write(f"| {name} | {caller} | {before:.0f} | {peak_mb(web):.0f} | {statuses} |\n")
                sys.stdout.flush()
                web.kill()
                installation.close()


if __name__ == "__main__":
    main()
