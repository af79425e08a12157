"""HTTP calls to a Queuecast server, with the standard library only."""

import json
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import quote, urlencode, urlsplit
from urllib.request import HTTPHandler, HTTPRedirectHandler, HTTPSHandler, Request, build_opener

from queuecast.problems import Refused, Rejected

PATIENCE_SECONDS = 300.0
"""The timeout of a response; an import of many megabytes is read during the request."""

PASSING = (
    HTTPStatus.TOO_MANY_REQUESTS,
    HTTPStatus.BAD_GATEWAY,
    HTTPStatus.SERVICE_UNAVAILABLE,
    HTTPStatus.GATEWAY_TIMEOUT,
)
"""The statuses of a server that is busy or starting; the same call may succeed a little later."""

Files = Sequence[tuple[str, bytes]]
"""Names and contents."""


class Failure(Rejected):
    """The server rejected a call; `problems` says why, each with its rule and path."""

    def __init__(self, status: int, body: Mapping[str, Any]) -> None:
        self.status = status
        message = body.get("message") or f"The server answered {status}."
        super().__init__(str(message), body.get("problems") or (), body.get("code") or "failed")


class Unreachable(Rejected):
    """There was no response, or not one of Queuecast."""

    def __init__(self, message: str) -> None:
        super().__init__(message, code="unreachable")


@dataclass(frozen=True)
class Answer:
    """A response."""

    status: int
    body: bytes
    headers: Mapping[str, str]
    address: str

    @property
    def json(self) -> Any:
        """Return the body as JSON; None if it is empty. Raises Unreachable for another body."""
        try:
            return json.loads(self.body) if self.body else None
        except ValueError:
            raise _strange(self.address, self.status) from None


class Server:
    """The API of one server with one token; with `dry_run` nothing is saved."""

    def __init__(self, address: str, token: str, *, dry_run: bool = False) -> None:
        if urlsplit(address).scheme not in ("http", "https"):
            raise Refused(f"{address!r} is not an address such as http://127.0.0.1:8000.")
        self.address = address.rstrip("/") + "/"
        self._token = token
        self._dry_run = dry_run

    def page(self, path: str) -> str:
        """Return the address of a page for the browser."""
        return self.address + path

    def get(self, path: str, /, **query: Any) -> Any:
        """Return the response to a call."""
        return self.call("GET", path, query=query).json

    def rows(self, path: str, /, **query: Any) -> Iterator[dict[str, Any]]:
        """Yield every row of a list, page after page."""
        number, more = 1, True
        while more:
            page = self.get(path, **query, page=number, page_size=1000)
            yield from page["results"]
            number, more = number + 1, page["next"] is not None

    def call(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        query: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        """Send JSON and return the response, or raise Failure or Unreachable."""
        content = None if body is None else json.dumps(body).encode()
        return self._send(method, path, content, "application/json", query or {}, headers or {})

    def upload(self, path: str, fields: Mapping[str, str], files: Files, *, field: str = "files") -> Answer:
        """Upload files as a form; `field` is for calls that take one file."""
        boundary = uuid.uuid4().hex
        parts = [_part(boundary, f'name="{name}"', value.encode()) for name, value in fields.items()]
        parts += [_part(boundary, f'name="{field}"; filename="{quote(name)}"', held) for name, held in files]
        form = b"".join(parts) + f"--{boundary}--\r\n".encode()
        return self._send("POST", path, form, f"multipart/form-data; boundary={boundary}", {}, {})

    def _send(
        self,
        method: str,
        path: str,
        content: bytes | None,
        content_type: str,
        query: Mapping[str, Any],
        headers: Mapping[str, str],
    ) -> Answer:
        if self._dry_run and method != "GET":
            query = {**query, "dry_run": 1}
        joint = "&" if "?" in path else "?"
        suffix = f"{joint}{urlencode(query)}" if query else ""
        request = Request(  # noqa: S310  # only http and https come this far
            f"{self.address}api/v1/{path}{suffix}",
            content,
            {
                "Authorization": f"Token {self._token}",
                "Content-Type": content_type,
                "Accept": "application/json",
                **headers,
            },
            method=method,
        )
        try:
            with _OPENER.open(request, timeout=PATIENCE_SECONDS) as answer:
                if answer.headers.get_content_type() == "text/html":
                    raise _strange(answer.url, answer.status)
                return Answer(answer.status, answer.read(), dict(answer.headers), answer.url)
        except HTTPError as error:
            raise _failure(error) from None
        except (URLError, OSError, HTTPException) as error:
            raise Unreachable(f"{self.address} does not respond: {getattr(error, 'reason', error)}") from None


class _Patient(HTTPConnection):
    """A connection that reads the response of a server that refuses a body before it has read it all."""

    def send(self, data: Any) -> None:
        """Send data; if the server has stopped reading, its response says why."""
        with suppress(BrokenPipeError, ConnectionResetError):
            super().send(data)


class _PatientTls(_Patient, HTTPSConnection):
    """The same over TLS."""


class _Http(HTTPHandler):
    def http_open(self, req: Request) -> Any:
        return self.do_open(_Patient, req)


class _Https(HTTPSHandler):
    def https_open(self, req: Request) -> Any:
        return self.do_open(_PatientTls, req)


class _NoRedirect(HTTPRedirectHandler):
    """Makes a redirect an error: a follower would send the token elsewhere, and no body."""

    def redirect_request(self, *_: Any) -> None:
        return None


_OPENER = build_opener(_Http, _Https, _NoRedirect)


def _failure(error: HTTPError) -> Rejected:
    """Return what a response of an error means."""
    with error:
        if to := error.headers.get("Location"):
            return Unreachable(f"{error.url} redirects to {to}. Log in to the address of the server itself.")
        try:
            body = json.load(error)
            if isinstance(body, Mapping):
                return Failure(error.code, body)
        except (ValueError, TypeError, OSError, HTTPException):
            pass
    return _strange(error.url, error.code)


def _strange(address: str, status: int) -> Unreachable:
    if status in PASSING:
        return Unreachable(f"{address} answered {status}: the server is busy or starts. Try again later.")
    return Unreachable(f"{address} answered {status} without JSON; is it a Queuecast server?")


def _part(boundary: str, disposition: str, content: bytes) -> bytes:
    head = f"--{boundary}\r\nContent-Disposition: form-data; {disposition}\r\n\r\n"
    return head.encode() + content + b"\r\n"
