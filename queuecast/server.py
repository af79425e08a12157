"""HTTP calls to a Queuecast server, with the standard library only."""

import json
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from http.client import HTTPException
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import quote, urlencode, urlsplit
from urllib.request import Request, urlopen

from queuecast.problems import Refused, Rejected

PATIENCE_SECONDS = 300.0
"""The timeout of a response; an import of many megabytes is read during the request."""

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

    @property
    def json(self) -> Any:
        """Return the body as JSON; None if it is empty."""
        return json.loads(self.body) if self.body else None


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
            with urlopen(request, timeout=PATIENCE_SECONDS) as answer:  # noqa: S310  # the same
                return Answer(answer.status, answer.read(), dict(answer.headers))
        except HTTPError as error:
            raise _failure(error) from None
        except (URLError, OSError, HTTPException) as error:
            raise Unreachable(f"{self.address} does not respond: {getattr(error, 'reason', error)}") from None


def _failure(error: HTTPError) -> Exception:
    with error:
        try:
            return Failure(error.code, json.load(error))
        except ValueError:
            return Unreachable(f"{error.url} answered {error.code} without JSON; is it a Queuecast server?")


def _part(boundary: str, disposition: str, content: bytes) -> bytes:
    head = f"--{boundary}\r\nContent-Disposition: form-data; {disposition}\r\n\r\n"
    return head.encode() + content + b"\r\n"
