"""Gunicorn workers with limits for slow clients."""

import json
import socket
import time
from http import HTTPStatus
from typing import Any

from gunicorn.http.errors import LimitRequestHeaders, LimitRequestLine
from gunicorn.util import write_nonblock
from gunicorn.workers.gthread import TConn, ThreadWorker

PATIENCE_SECONDS = 10.0
"""The longest total time of a request for which a client may block a thread."""
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
"""Errors that end a request before Django reads it, and their responses in the API's shape."""
SLOWEST = 10_000
"""Bytes per second; a client that is at least this fast may continue without limit."""


class PatientSocket(socket.socket):
    """A connection that is closed if its client blocks a thread for too long."""

    _left = PATIENCE_SECONDS

    def renew(self) -> None:
        """Reset the time for the next request."""
        self._left = PATIENCE_SECONDS

    def recv(self, size: int, flags: int = 0) -> bytes:
        """Return received data, or raise ConnectionResetError if the client's time is over."""
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
        """Send everything, unless the client is too slow."""
        before = self.gettimeout()
        self.settimeout(PATIENCE_SECONDS + len(data) / SLOWEST)
        try:
            super().sendall(data, flags)
        except TimeoutError:
            raise ConnectionResetError("The client read too slowly.") from None
        finally:
            self.settimeout(before)


class PatientThreads(ThreadWorker):  # type: ignore[misc]  # gunicorn comes without types
    """Gunicorn's threads, which slow clients cannot block for long."""

    def enqueue_req(self, conn: TConn) -> None:
        """Pass a connection to a thread."""
        if not isinstance(conn.sock, PatientSocket):
            conn.sock = PatientSocket(fileno=conn.sock.detach())
        conn.sock.renew()
        super().enqueue_req(conn)

    def handle_error(self, req: Any, client: Any, addr: Any, exc: Exception) -> None:
        """Answer an unreadable request; one that is too large in the API's shape."""
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
