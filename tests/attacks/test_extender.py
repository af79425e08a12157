"""A scheduler configuration makes the server call only hosts that the administrator allows."""

import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from extender_client import AllowedHosts, ExtenderClient, ExtenderError

URLS = [
    "http://127.0.0.1/", "http://127.0.0.1:22/", "http://localhost/", "http://[::1]/", "http://0.0.0.0/",
    "http://0/", "http://2130706433/", "http://0x7f000001/", "http://0177.0.0.1/", "http://127.1/",
    "http://[::ffff:127.0.0.1]/", "http://169.254.169.254/latest/meta-data/", "http://[fe80::1]/",
    "http://scores.example@127.0.0.1/", "http://scores.example:8888@169.254.169.254/",
    "http://scores.example.evil.example:8888/", "http://scores.example#@127.0.0.1/",
    "http://127.0.0.1\\@scores.example:8888/", "http://scores.example:8889/",
    "file:///etc/passwd", "gopher://127.0.0.1:6379/_FLUSHALL", "ftp://scores.example/", "//127.0.0.1/",
    "http://scores.example:8888\r\nHost: 127.0.0.1/", "http://\u2460\u2461\u2466.0.0.1/", "",
]  # fmt: skip


@pytest.mark.parametrize("url", URLS)
def test_only_the_allowed_host_and_port_are_called(url: str) -> None:
    with ExtenderClient(AllowedHosts(["scores.example:8888"])) as client, pytest.raises(ExtenderError):
        client.post(url, b"{}", 1.0)


class _Elsewhere(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        self.send_response(307)
        self.send_header("Location", "http://169.254.169.254/latest/meta-data/")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


def test_redirect_is_not_followed() -> None:
    server = HTTPServer(("127.0.0.1", 0), _Elsewhere)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    host = f"127.0.0.1:{server.server_port}"
    try:
        with ExtenderClient(AllowedHosts([host])) as client, pytest.raises(ExtenderError, match="307"):
            client.post(f"http://{host}/predicates", b"{}", 2.0)
    finally:
        server.shutdown()
        server.server_close()
