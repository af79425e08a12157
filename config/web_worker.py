"""How long may a client take to send a request and to take its answer?"""

import json
import socket
import time
from http import HTTPStatus
from typing import Any

from gunicorn.http.errors import LimitRequestHeaders, LimitRequestLine
from gunicorn.util import write_nonblock
from gunicorn.workers.gthread import TConn, ThreadWorker

PATIENCE_SECONDS = 10.0
"""For what a client may let a thread wait, all pauses of a request together."""
_TOO_LARGE: dict[type[Exception], tuple[HTTPStatus, str, str]] = {
    LimitRequestLine: (
        HTTPStatus.REQUEST_URI_TOO_LONG,
        "uri_too_long",
        "The address is longer than 8,190 bytes.",
    ),
    LimitRequestHeaders: (
        HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE,
        "headers_too_large",
        "There are more than 60 headers, or one is longer than 8,190 bytes.",
    ),
}
"""What ends a request before Django reads it, and how that is answered: in the shape of all failures."""
SLOWEST = 10_000
"""Bytes in a second: who sends or takes so many may go on for ever."""


class PatientSocket(socket.socket):
    """A connection that ends when its client keeps a thread waiting for too long."""

    _left = PATIENCE_SECONDS

    def renew(self) -> None:
        """Begin to wait anew: the next request comes."""
        self._left = PATIENCE_SECONDS

    def recv(self, size: int, flags: int = 0) -> bytes:
        """Return what was sent, or raise ConnectionResetError when the client's time is over."""
        before, began = self.gettimeout(), time.monotonic()
        self.settimeout(max(0.001, min(self._left, before or self._left)))
        try:
            data = super().recv(size, flags)
        except TimeoutError:
            if before is not None and before < self._left:
                raise
            raise ConnectionResetError("The client sent too slowly.") from None
        finally:
            self.settimeout(before)
        earned = len(data) / SLOWEST - (time.monotonic() - began)
        self._left = min(PATIENCE_SECONDS, self._left + earned)
        return data

    def sendall(self, data: Any, flags: int = 0) -> None:
        """Send everything, as long as the client takes it."""
        before = self.gettimeout()
        self.settimeout(PATIENCE_SECONDS + len(data) / SLOWEST)
        try:
            super().sendall(data, flags)
        except TimeoutError:
            raise ConnectionResetError("The client read too slowly.") from None
        finally:
            self.settimeout(before)


class PatientThreads(ThreadWorker):  # type: ignore[misc]  # gunicorn comes without types
    """Gunicorn's threads, none of which a slow client holds for long."""

    def enqueue_req(self, conn: TConn) -> None:
        """Give a connection to a thread."""
        if not isinstance(conn.sock, PatientSocket):
            conn.sock = PatientSocket(fileno=conn.sock.detach())
        conn.sock.renew()
        super().enqueue_req(conn)

    def handle_error(self, req: Any, client: Any, addr: Any, exc: Exception) -> None:
        """Answer a request that cannot be read; one that is too large as the API answers all failures."""
        if type(exc) not in _TOO_LARGE:
            super().handle_error(req, client, addr, exc)
            return
        status, code, message = _TOO_LARGE[type(exc)]
        self.log.warning("Request of %s refused: %s", addr[0] if addr else "", exc)
        body = json.dumps({"code": code, "message": message, "problems": []})
        head = (
            f"HTTP/1.1 {status.value} {status.phrase}",
            "Connection: close",
            "Content-Type: application/json",
            f"Content-Length: {len(body)}",
        )
        write_nonblock(client, "\r\n".join([*head, "", body]).encode())
