"""The extender client calls only allowed hosts, within its timeout, and limits the size of responses."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from extender_client import AllowedHosts, ExtenderClient, ExtenderError
from tests.extender.server import ExtenderServer, Raw


def client_of(server: ExtenderServer, **limits: float) -> ExtenderClient:
    return ExtenderClient(AllowedHosts([server.host]), **limits)


@contextmanager
def raw_server(*parts: bytes, pause: float) -> Iterator[int]:
    """Run a server that sends its parts one by one whatever the request; yield its port."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def talk() -> None:
            connection, _ = listening.accept()
            with connection:
                connection.recv(65536)
                for part in parts:
                    try:
                        connection.sendall(part)
                    except OSError:
                        return
                    time.sleep(pause)

        thread = threading.Thread(target=talk)
        thread.start()
        yield listening.getsockname()[1]
        thread.join()


def test_a_response_is_returned_unchanged() -> None:
    with ExtenderServer(queueOverused={"overused": True}) as server, client_of(server) as client:
        assert client.post(f"{server.prefix}/queueOverused", b'{"queue":{}}', 1.0) == b'{"overused": true}'
    assert server.requests == [("queueOverused", {"queue": {}})]
    assert server.complaints == []


def test_a_connection_is_reused() -> None:
    with ExtenderServer() as server, client_of(server) as client:
        for _ in range(5):
            client.post(f"{server.prefix}/onSessionClose", b"{}", 1.0)
        assert server.connections == 1


def test_a_closed_connection_is_reopened() -> None:
    closing = Raw(b"{}", headers={"Connection": "close"})
    with ExtenderServer(onSessionClose=closing) as server, client_of(server) as client:
        for _ in range(3):
            client.post(f"{server.prefix}/onSessionClose", b"{}", 1.0)
        assert server.connections == 3


def test_a_connection_dropped_by_the_server_is_reopened() -> None:
    answer = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def answer_once_each() -> None:
            for _ in range(2):
                connection, _ = listening.accept()
                with connection:
                    connection.recv(65536)
                    connection.sendall(answer)

        thread = threading.Thread(target=answer_once_each)
        thread.start()
        url = f"http://127.0.0.1:{listening.getsockname()[1]}/x"
        with ExtenderClient(AllowedHosts(["127.0.0.1"])) as client:
            assert [client.post(url, b"{}", 1.0), client.post(url, b"{}", 1.0)] == [b"{}", b"{}"]
        thread.join()


def test_a_refused_connection_is_an_error() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
    with pytest.raises(ExtenderError, match="refused"):
        ExtenderClient(AllowedHosts(["127.0.0.1"])).post(f"http://127.0.0.1:{port}/x", b"{}", 1.0)


def test_a_gzipped_response_is_decompressed() -> None:
    packed = Raw(b'{"overused": false}', headers={"Content-Encoding": "gzip"})
    with ExtenderServer(queueOverused=packed) as server, client_of(server) as client:
        assert client.post(f"{server.prefix}/queueOverused", b'{"queue":{}}', 1.0) == b'{"overused": false}'


@pytest.mark.parametrize("headers", [{}, {"Content-Encoding": "gzip"}], ids=["plain", "packed"])
def test_at_most_one_byte_above_ten_mebibytes_is_read(headers: dict[str, str]) -> None:
    large = Raw(b" " * (30 * 2**20), headers=headers)
    with ExtenderServer(predicate=large) as server, client_of(server) as client:
        body = client.post(f"{server.prefix}/predicate", b'{"task":{},"node":{}}', 20.0)
        assert len(body) == 10 * 2**20 + 1


@pytest.mark.parametrize("status", [201, 204, 301, 400, 404, 500, 503])
def test_only_status_200_is_accepted(status: int) -> None:
    reply = Raw(status=status, headers={"Location": "http://127.0.0.1:1/elsewhere"})
    with ExtenderServer(predicate=reply) as server, client_of(server) as client:
        with pytest.raises(ExtenderError, match=f"code {status}") as raised:
            client.post(f"{server.prefix}/predicate", b'{"task":{},"node":{}}', 1.0)
        assert raised.value.status == status
        assert len(server.requests) == 1


def test_a_slow_response_times_out() -> None:
    with ExtenderServer(predicate=Raw(b"{}", wait=0.5)) as server, client_of(server) as client:
        with pytest.raises(ExtenderError, match="in time") as raised:
            client.post(f"{server.prefix}/predicate", b'{"task":{},"node":{}}', 0.1)
        assert raised.value.status is None


def test_a_response_that_trickles_in_times_out() -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n"
    with raw_server(head, *[b" "] * 95, pause=0.1) as port:
        client = ExtenderClient(AllowedHosts(["127.0.0.1"]))
        started = time.monotonic()
        with pytest.raises(ExtenderError, match="in time"):
            client.post(f"http://127.0.0.1:{port}/x", b"{}", 0.3)
        assert time.monotonic() - started < 5, "the whole response takes more than nine seconds"


def test_the_client_waits_at_most_longest_wait_without_a_timeout() -> None:
    with (
        ExtenderServer(predicate=Raw(b"{}", wait=0.5)) as server,
        client_of(server, longest_wait=0.1) as client,
        pytest.raises(ExtenderError, match="in time"),
    ):
        client.post(f"{server.prefix}/predicate", b'{"task":{},"node":{}}', None)


@pytest.mark.parametrize("garbage", [b"", b"hello\r\n\r\n", b"HTTP/1.1 two hundred\r\n\r\n"])
def test_a_response_that_is_not_http_is_an_error(garbage: bytes) -> None:
    client = ExtenderClient(AllowedHosts(["127.0.0.1"]))
    with raw_server(garbage, pause=0.0) as port, pytest.raises(ExtenderError):
        client.post(f"http://127.0.0.1:{port}/x", b"{}", 1.0)


REFUSED = {
    "another host": "http://example.com/predicate",
    "another port": "http://127.0.0.1:1/predicate",
    "another loopback address": "http://127.0.0.2:8080/predicate",
    "the name of a loopback address": "http://localhost:8080/predicate",
    "a user name that looks like the host": "http://127.0.0.1:8080@example.com/predicate",
    "no host": "http:///predicate",
    "no prefix": "/predicate",
    "a file": "file:///etc/passwd",
    "another protocol": "ftp://127.0.0.1:8080/x",
    "an invalid port": "http://127.0.0.1:99999/x",
    "a blank": "http://127.0.0.1:8080/a b",
    "an injected header": "http://127.0.0.1:8080/x HTTP/1.1\r\nX: y",
}


@pytest.mark.parametrize("url", REFUSED.values(), ids=REFUSED.keys())
def test_only_allowed_hosts_are_called(url: str) -> None:
    client = ExtenderClient(AllowedHosts(["127.0.0.1:8080"]))
    with pytest.raises(ExtenderError):
        client.post(url, b"{}", 0.2)


def test_no_host_is_called_when_none_is_allowed() -> None:
    with ExtenderServer() as server, pytest.raises(ExtenderError, match="not one of the allowed"):
        ExtenderClient(AllowedHosts([])).post(f"{server.prefix}/predicate", b"{}", 1.0)
    assert server.connections == 0


def test_an_allowed_host_without_a_port_allows_every_port() -> None:
    with ExtenderServer() as server, ExtenderClient(AllowedHosts(["127.0.0.1"])) as client:
        client.post(f"{server.prefix}/onSessionClose", b"{}", 1.0)
    assert server.verbs() == ["onSessionClose"]


@pytest.mark.parametrize("entry", ["", "http://x", "x/y", "a:b", "u@x", "x:99999"])
def test_an_invalid_allowed_host_is_refused_at_once(entry: str) -> None:
    with pytest.raises(ValueError, match="is not a host"):
        AllowedHosts([entry])
