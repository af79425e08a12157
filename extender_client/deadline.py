"""A deadline for a whole exchange, however slowly data arrives."""

from __future__ import annotations

import io
import socket
import time
from typing import Any


class Deadline:
    """A time at which all waiting ends; without seconds there is none."""

    def __init__(self, seconds: float | None) -> None:
        self._at = None if seconds is None else time.monotonic() + seconds

    def left(self) -> float | None:
        """Return the remaining seconds, None: unlimited; raise TimeoutError if there are none."""
        if self._at is None:
            return None
        left = self._at - time.monotonic()
        if left <= 0:
            raise TimeoutError("the extender did not respond in time")
        return left


class DeadlineSocket:
    """A connected socket all of whose operations end at the deadline of the current exchange.

    Like a socket it stays open until the last reader is done, too.
    """

    def __init__(self, sock: socket.socket) -> None:
        self._socket = sock
        self._readers = 0
        self._is_done = False
        self.deadline = Deadline(None)

    def sendall(self, data: Any) -> None:
        """Send everything."""
        self._socket.settimeout(self.deadline.left())
        self._socket.sendall(data)

    def makefile(self, mode: str = "rb", buffering: int = -1) -> io.BufferedReader:
        """Return a reader of received data."""
        self._readers += 1
        return io.BufferedReader(_Incoming(self), io.DEFAULT_BUFFER_SIZE if buffering < 1 else buffering)

    def receive_into(self, buffer: Any) -> int:
        """Read some bytes; returns their number, 0 at the end."""
        self._socket.settimeout(self.deadline.left())
        try:
            return self._socket.recv_into(buffer)
        except TimeoutError as error:
            raise TimeoutError("the extender did not respond in time") from error

    def close(self) -> None:
        """Close the connection once no reader uses it."""
        self._is_done = True
        if self._readers == 0:
            self._socket.close()

    def reader_closed(self) -> None:
        """Release a reader."""
        self._readers -= 1
        if self._is_done:
            self.close()


class _Incoming(io.RawIOBase):
    def __init__(self, sock: DeadlineSocket) -> None:
        self._socket = sock

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        return self._socket.receive_into(buffer)

    def close(self) -> None:
        if not self.closed:
            super().close()
            self._socket.reader_closed()
