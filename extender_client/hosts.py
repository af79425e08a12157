"""The hosts that may be called, as configured by the administrator."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple
from urllib.parse import urlsplit

PORTS = {"http": 80, "https": 443}


class HostRefused(OSError):
    """The URL may not be called."""


class Target(NamedTuple):
    """The target of a request."""

    scheme: str
    host: str
    port: int
    request: str
    """Path and query as written."""


class AllowedHosts:
    """The hosts that may be called, each as ``host``, ``host:port`` or ``[address]:port``.

    Without a port every port of the host may be called.
    """

    def __init__(self, entries: Iterable[str]) -> None:
        self._allowed = {_split(entry) for entry in entries}

    def target(self, url: str) -> Target:
        """Return the target of a URL; raise HostRefused if it is not allowed."""
        target = _target(url)
        if (target.host, target.port) not in self._allowed and (target.host, None) not in self._allowed:
            raise HostRefused(f"host {target.host}:{target.port} is not one of the allowed extender hosts")
        return target


def _split(entry: str) -> tuple[str, int | None]:
    try:
        parts = urlsplit(f"//{entry.strip()}")
        host, port = parts.hostname, parts.port
    except ValueError as error:
        raise ValueError(f"{entry!r} is not a host or host:port") from error
    if not host or parts.path or parts.username is not None:
        raise ValueError(f"{entry!r} is not a host or host:port")
    return host.rstrip("."), port


def _target(url: str) -> Target:
    if any(character <= " " or character == "\x7f" for character in url) or not url.isascii():
        raise HostRefused(f"{url[:100]!r} is not a URL")
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError as error:
        raise HostRefused(f"{url[:100]!r} is not a URL: {error}") from error
    if parts.scheme not in PORTS:
        raise HostRefused(f"{url[:100]!r} does not begin with http:// or https://")
    if not host:
        raise HostRefused(f"{url[:100]!r} names no host")
    if parts.username is not None:
        raise HostRefused("the URL of an extender must not contain a user name")
    request = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return Target(parts.scheme, host.rstrip("."), port or PORTS[parts.scheme], request)
