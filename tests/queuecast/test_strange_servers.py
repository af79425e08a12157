"""The client with servers that are busy, cut their responses, or are no Queuecast."""

import json
import socket
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import pytest

from queuecast import Client, Failure
from queuecast.__main__ import main

PAGE = b"<html><body>Log in</body></html>"
OLD_TOKEN = "t" * 64


def response(status: int, body: bytes, kind: str = "application/json", *headers: str) -> bytes:
    """Return the bytes of a response; `headers` replace the others of the same name."""
    lines = [f"Content-Type: {kind}", f"Content-Length: {len(body)}", "Connection: close"]
    names = {line.partition(":")[0] for line in headers}
    kept = [line for line in lines if line.partition(":")[0] not in names]
    return "\r\n".join([f"HTTP/1.1 {status} Whatever", *kept, *headers, "", ""]).encode() + body


def refusal(code: str, message: str) -> bytes:
    return json.dumps({"code": code, "message": message, "problems": []}).encode()


@dataclass
class Strange:
    """A server that gives these responses, the last one again and again, without reading bodies."""

    responses: Sequence[bytes]
    address: str = ""
    requests: list[bytes] = field(default_factory=list)

    def serve(self, listening: socket.socket) -> None:
        while True:
            try:
                connection, _ = listening.accept()
            except OSError:
                return
            with connection:
                head = b""
                while b"\r\n\r\n" not in head:
                    head += connection.recv(4096)
                self.requests.append(head)
                connection.sendall(self.responses[min(len(self.requests), len(self.responses)) - 1])


@contextmanager
def strange(*responses: bytes) -> Iterator[Strange]:
    """Run a strange server."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        server = Strange(responses, f"http://127.0.0.1:{listening.getsockname()[1]}")
        thread = threading.Thread(target=server.serve, args=(listening,), daemon=True)
        thread.start()
        yield server
        listening.shutdown(socket.SHUT_RDWR)
    thread.join()


CUT = response(500, b"{", "application/json", "Content-Length: 99")


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (
            response(200, PAGE, "text/html; charset=utf-8"),
            "answered 200 without JSON; is it a Queuecast server?",
        ),
        (response(200, PAGE), "answered 200 without JSON"),
        (response(200, b"\xff\xfe{"), "answered 200 without JSON"),
        (response(200, b"{", "application/json", "Content-Length: 99"), "does not respond: IncompleteRead"),
        (response(404, PAGE, "text/html"), "answered 404 without JSON"),
        (response(500, b"[1, 2]"), "answered 500 without JSON"),
        (response(500, b'{"message": "x", "problems": ["y"]}'), "answered 500 without JSON"),
        (CUT, "answered 500 without JSON"),
        (response(502, PAGE, "text/html"), "answered 502: the server is busy or starts. Try again later."),
        (response(429, refusal("throttled", "Wait 7 seconds.")), "Wait 7 seconds."),
        (response(503, refusal("busy", "The server is busy.")), "The server is busy."),
        (b"SSH-2.0-OpenSSH\r\n", "does not respond"),
        (b"", "does not respond"),
    ],
)
def test_a_strange_response_is_reported_in_a_sentence(
    answer: bytes, says: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("QUEUECAST_TOKEN", OLD_TOKEN)
    with strange(answer) as server:
        monkeypatch.setenv("QUEUECAST_URL", server.address)
        assert main(["scenario", "list"]) == 3
    assert says in capsys.readouterr().err


def test_a_redirect_is_an_error_and_gets_no_token(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("QUEUECAST_TOKEN", OLD_TOKEN)
    with strange(response(200, b"{}")) as elsewhere:
        to = f"{elsewhere.address}/login/"
        with strange(response(302, b"", "text/html", f"Location: {to}")) as server:
            monkeypatch.setenv("QUEUECAST_URL", server.address)
            assert main(["scenario", "list"]) == 3
    assert f"redirects to {to}. Log in to the address of the server itself." in capsys.readouterr().err
    assert elsewhere.requests == []


def test_a_server_that_refuses_a_body_before_its_end_is_heard() -> None:
    large = [("a.yaml", b"#" * 20_000_000)]
    answer = response(413, refusal("payload_too_large", "The body is too large."))
    with strange(answer) as server, pytest.raises(Failure, match="The body is too large") as refused:
        Client(server.address, OLD_TOKEN).server.upload("snapshots/", {}, large)
    assert refused.value.status == 413


def test_awaited_work_survives_a_restart_of_the_server() -> None:
    run = {"id": "1", "state": "succeeded", "progress": 1.0, "doing": "", "error": ""}
    away = response(502, PAGE, "text/html"), b"", response(503, refusal("busy", "Busy."))
    name = "00000000-0000-0000-0000-000000000000"
    with strange(*away, response(200, json.dumps(run).encode())) as server:
        assert Client(server.address, OLD_TOKEN).run_wait(name)["state"] == "succeeded"
        assert len(server.requests) == 4
