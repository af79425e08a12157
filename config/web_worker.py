"""How long may a client take to send a request and to take its answer?"""

import socket
import time
from typing import Any

from gunicorn.workers.gthread import TConn, ThreadWorker

PATIENCE_SECONDS = 10.0
"""For what a client may let a thread wait, all pauses of a request together."""
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
