"""POST requests to extenders, with limits of time, size and hosts."""

from __future__ import annotations

import http.client
import socket
import ssl
import zlib
from typing import Any

from extender_client.deadline import Deadline, DeadlineSocket
from extender_client.hosts import AllowedHosts, Target

LARGEST_ANSWER = 10 * 2**20
DEFAULT_LONGEST_WAIT = 30.0
USER_AGENT = "queuecast-extender-client"
_CHUNK = 65536


class ExtenderError(OSError):
    """There is no response with status 200.

    Attributes
    ----------
    status : int or None
        The status of the answer; None: there was no answer.

    """

    def __init__(self, message: str, *, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status


class ExtenderClient:
    """Posts JSON to allowed extenders, and keeps their connections alive.

    The name of a host is resolved once per connection, and the connection goes to the very address that was
    found. Redirects are not followed and proxies are not used, so that only an allowed host is ever reached.

    Parameters
    ----------
    allowed : AllowedHosts
        Who may be called.
    longest_wait : float
        Seconds after which an exchange is given up, whatever longer time-out is asked for.

    """

    def __init__(self, allowed: AllowedHosts, *, longest_wait: float = DEFAULT_LONGEST_WAIT) -> None:
        self._allowed = allowed
        self._longest_wait = longest_wait
        self._kept: dict[tuple[str, str, int], _Connection] = {}

    def __enter__(self) -> ExtenderClient:
        return self

    def __exit__(self, *_raised: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the open connections."""
        for connection in self._kept.values():
            connection.close()
        self._kept.clear()

    def post(self, url: str, body: bytes, timeout: float | None) -> bytes:
        """Send JSON and return the body of the response, truncated to 10 MiB and one byte.

        Parameters
        ----------
        url : str
            Where to, as it is; an http or https URL.
        body : bytes
            JSON.
        timeout : float or None
            Seconds for the whole exchange; None: as long as this client waits at all.

        Raises
        ------
        ExtenderError
            When the host is not allowed, the answer's status is not 200, or there is none in time.

        """
        deadline = Deadline(self._longest_wait if timeout is None else min(timeout, self._longest_wait))
        try:
            status, answer = self._exchange(self._allowed.target(url), body, deadline)
        except (OSError, http.client.HTTPException, zlib.error) as error:
            raise ExtenderError(f'Post "{url}": {error or type(error).__name__}') from error
        if status != http.client.OK:
            raise ExtenderError(f'Post "{url}": code {status}', status=status)
        return answer

    def _exchange(self, target: Target, body: bytes, deadline: Deadline) -> tuple[int, bytes]:
        key = (target.scheme, target.host, target.port)
        kept = self._kept.pop(key, None)
        if kept is not None:
            try:
                return self._on(kept, target, body, deadline)
            except (ConnectionError, http.client.BadStatusLine):
                kept.close()  # the extender had closed it meanwhile: a new connection tells
        return self._on(_Connection(target, deadline), target, body, deadline)

    def _on(
        self, connection: _Connection, target: Target, body: bytes, deadline: Deadline
    ) -> tuple[int, bytes]:
        try:
            status, answer, reusable = connection.exchange(target, body, deadline)
        except BaseException:
            connection.close()
            raise
        if reusable:
            self._kept[(target.scheme, target.host, target.port)] = connection
        else:
            connection.close()
        return status, answer


class _Connection:
    """One connection to one host."""

    def __init__(self, target: Target, deadline: Deadline) -> None:
        self._http = http.client.HTTPConnection(target.host, target.port)
        self._http.auto_open = 0  # only `_connected` opens new connections
        self._socket = DeadlineSocket(_connected(target, deadline))
        self._http.sock = self._socket

    def close(self) -> None:
        self._http.close()

    def exchange(self, target: Target, body: bytes, deadline: Deadline) -> tuple[int, bytes, bool]:
        """Return status and body of the response, and whether the connection can be reused."""
        self._socket.deadline = deadline
        headers = {
            "Content-Type": "application/json",
            "Accept-Encoding": "gzip",
            "User-Agent": USER_AGENT,
        }
        self._http.request("POST", target.request, body, headers)
        with self._http.getresponse() as response:
            raw = _at_most(response, LARGEST_ANSWER + 1)
            whole = response.isclosed() and not response.will_close
        if response.headers.get("Content-Encoding", "").lower() == "gzip":
            raw = zlib.decompressobj(zlib.MAX_WBITS | 16).decompress(raw, LARGEST_ANSWER + 1)
        return response.status, raw, whole


def _at_most(response: http.client.HTTPResponse, limit: int) -> bytes:
    parts: list[bytes] = []
    size = 0
    while size < limit and (part := response.read(min(_CHUNK, limit - size))):
        parts.append(part)
        size += len(part)
    return b"".join(parts)


def _connected(target: Target, deadline: Deadline) -> Any:
    """Return a socket connected to the first of the host's addresses that accepts it."""
    failure: OSError | None = None
    addresses = socket.getaddrinfo(target.host, target.port, type=socket.SOCK_STREAM)
    for family, kind, protocol, _name, address in addresses:
        sock = socket.socket(family, kind, protocol)
        try:
            sock.settimeout(deadline.left())
            sock.connect(address)
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if target.scheme == "https":
                return ssl.create_default_context().wrap_socket(sock, server_hostname=target.host)
            return sock
        except OSError as error:
            sock.close()
            failure = error
    raise failure or OSError(f"{target.host} has no address")
