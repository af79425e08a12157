"""Pages respond quickly while fifty clients send a byte now and then."""

import http.client
import socket
import statistics
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import pytest

from config import web_worker
from tests.needs import unavailable
from tests.processes import services
from tests.processes.installation import Installation
from tests.processes.proxy import nginx, nginx_program
from tests.processes.topology import Web

SLOW = 50
SECONDS = 2.0
"""The delay of a page that slow clients may add, on top of the delay of a busy machine."""

HEADS = [
    "GET /login/ HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ",
    "POST /login/ HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/x-www-form-urlencoded\r\n"
    "Content-Length: 60000\r\n\r\n",
    "POST /login/ HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/x-www-form-urlencoded\r\n"
    "Content-Length: 1000000\r\n\r\n",
    "POST /api/v1/snapshots/ HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: multipart/form-data; boundary=x\r\n"
    "Content-Length: 2000000\r\n\r\n",
    "",
]
"""Slow in the head, in a small body, in large ones, and silent."""


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Web]:
    """The web server as `make run` starts it."""
    installation = Installation(tmp_path_factory.mktemp("web"), {})
    installation.collect_static()
    server = Web(installation, services.free_port())
    yield server
    server.kill()
    installation.close()


@contextmanager
def slow_clients(port: int, many: int) -> Iterator[list[socket.socket]]:
    """Hold connections that send a byte every half second."""
    over = threading.Event()
    clients = []
    for number in range(many):
        client = socket.create_connection(("127.0.0.1", port))
        client.sendall(HEADS[number % len(HEADS)].encode())
        clients.append(client)

    def trickle() -> None:
        while not over.wait(0.5):
            for number, client in enumerate(clients):
                with suppress(OSError):
                    if HEADS[number % len(HEADS)]:
                        client.send(b"a")

    thread = threading.Thread(target=trickle, daemon=True)
    thread.start()
    try:
        time.sleep(2)
        yield clients
    finally:
        over.set()
        thread.join()
        for client in clients:
            client.close()


def answer(port: int) -> tuple[int, float]:
    """Return the status of a page, and how long it took."""
    began = time.monotonic()
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    connection.request("GET", "/login/")
    status = connection.getresponse().status
    connection.close()
    return status, time.monotonic() - began


def typical(port: int, times: int = 10) -> float:
    """Return the median of several responses; on a busy machine single ones are late for other reasons."""
    answers = [answer(port) for _ in range(times)]
    assert {status for status, _ in answers} == {200}
    return statistics.median(took for _, took in answers)


def test_page_responds_despite_fifty_slow_clients_behind_the_proxy(web: Web, tmp_path: Path) -> None:
    program = nginx_program()
    if program is None:
        unavailable("nginx is not installed (scripts/install-test-services installs it)")
    assert program is not None
    with ExitStack() as stack:
        port = stack.enter_context(nginx(program, tmp_path / "nginx", web.port))
        assert answer(port)[0] == 200
        alone = typical(port)
        stack.enter_context(slow_clients(port, SLOW))
        took = typical(port)
    assert took < SECONDS + 3 * alone


def test_page_responds_despite_fifty_slow_clients_without_a_proxy(web: Web) -> None:
    alone = typical(web.port)
    with slow_clients(web.port, SLOW):
        took = typical(web.port)
    assert took < SECONDS + 3 * alone


def test_slow_client_is_disconnected_without_a_proxy(web: Web) -> None:
    with slow_clients(web.port, len(HEADS) - 1) as clients:
        until = time.monotonic() + 3 * web_worker.PATIENCE_SECONDS
        for client in clients:
            client.settimeout(max(0.1, until - time.monotonic()))
            with suppress(ConnectionResetError):
                while client.recv(65536):
                    pass


def test_client_that_sends_steadily_is_read_to_the_end(web: Web) -> None:
    """Slower than a page may take, but faster than a slow client: fifteen seconds for one body."""
    body = b"username=a&password=" + b"b" * 400_000
    with socket.create_connection(("127.0.0.1", web.port), timeout=60) as client:
        client.sendall(
            b"POST /login/ HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n"
            b"Cookie: csrftoken=" + b"a" * 32 + b"\r\n"
            b"Content-Type: application/x-www-form-urlencoded\r\n"
            b"Content-Length: %d\r\n\r\n" % len(body)
        )
        for start in range(0, len(body), 20_000):
            client.sendall(body[start : start + 20_000])
            time.sleep(0.7)
        assert client.recv(12) == b"HTTP/1.1 403", "a form without its CSRF token is read to the end"


def test_proxy_refuses_anonymous_large_files_and_endless_bodies(web: Web, tmp_path: Path) -> None:
    program = nginx_program()
    if program is None:
        unavailable("nginx is not installed (scripts/install-test-services installs it)")
    assert program is not None
    with nginx(program, tmp_path / "nginx", web.port) as port:
        for path, headers, expected in (
            ("/login/", {"Content-Length": "300000000"}, 413),
            ("/import/", {"Content-Length": "150000000"}, 413),
            ("/import/", {"Content-Length": "300000000", "Cookie": "sessionid=x"}, 413),
            ("/api/v1/snapshots/", {"Transfer-Encoding": "chunked"}, 413),
        ):
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
            connection.putrequest("POST", path)
            for name, value in headers.items():
                connection.putheader(name, value)
            connection.endheaders()
            assert connection.getresponse().status == expected, (path, headers)
            connection.close()
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        connection.request("GET", "/import/")
        assert connection.getresponse().status == 302, "the login page still responds"
        connection.close()


def test_web_server_refuses_a_body_without_a_length(web: Web) -> None:
    with socket.create_connection(("127.0.0.1", web.port), timeout=30) as client:
        client.sendall(b"POST /login/ HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\n")
        assert client.recv(12) == b"HTTP/1.1 411"
