"""The client's address of a request behind trusted proxies."""

import ipaddress
from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse

Network = ipaddress.IPv4Network | ipaddress.IPv6Network


class ClientAddress:
    """Sets REMOTE_ADDR to the client's address if the request comes through trusted proxies."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self._get_response = get_response
        self._trusted = [ipaddress.ip_network(proxy) for proxy in settings.TRUSTED_PROXIES]

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Handle the request with the client's address."""
        peer = request.META.get("REMOTE_ADDR", "")
        request.META["REMOTE_ADDR"] = client_address(
            peer, request.META.get("HTTP_X_FORWARDED_FOR", ""), self._trusted
        )
        return self._get_response(request)


def client_address(peer: str, forwarded: str, trusted: list[Network]) -> str:
    """Return the last address that no trusted proxy has; what comes before it anybody may have written.

    >>> proxies = [ipaddress.ip_network("10.0.0.0/8")]
    >>> client_address("10.0.0.1", "203.0.113.9, 198.51.100.7, 10.0.0.2", proxies)
    '198.51.100.7'
    >>> client_address("198.51.100.7", "203.0.113.9", proxies)
    '198.51.100.7'
    """
    address = peer
    for named in reversed(forwarded.split(",")):
        if not _is_trusted(address, trusted) or not _parsed(named.strip()):
            break
        address = named.strip()
    return address


def _is_trusted(address: str, trusted: list[Network]) -> bool:
    parsed = _parsed(address)
    return parsed is not None and any(parsed in network for network in trusted)


def _parsed(address: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(address)
    except ValueError:
        return None
