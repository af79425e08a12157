"""A small OpenID Connect provider on loopback: discovery, authorize, token, keys, userinfo."""

import base64
import hashlib
import json
import secrets
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from joserfc import jwt
from joserfc.jwk import KeySet, RSAKey

CLIENT_ID, CLIENT_SECRET = "queuecast", "a secret: with signs"


class Provider:
    """The logged-in account (`person`, its claims), and switches for faulty behaviour."""

    def __init__(self, issuer: str) -> None:
        self.issuer = issuer
        self.person: dict[str, Any] = {"sub": "s-1", "email": "ann@example.org", "email_verified": True}
        self.only_in_userinfo: tuple[str, ...] = ()
        self.spoiled: dict[str, Any] = {}
        self.refuses = False
        self.key = key("first")
        self.signs_with = self.key
        self._asked: dict[str, dict[str, str]] = {}

    def rotate(self) -> None:
        """Sign with a new key from now on, and publish it."""
        self.key = self.signs_with = key("second")

    def discovery(self) -> dict[str, Any]:
        return {
            "issuer": self.issuer,
            "authorization_endpoint": f"{self.issuer}/authorize",
            "token_endpoint": f"{self.issuer}/token",
            "userinfo_endpoint": f"{self.issuer}/userinfo",
            "jwks_uri": f"{self.issuer}/keys",
            "response_types_supported": ["code"],
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": ["RS256"],
            "token_endpoint_auth_methods_supported": ["client_secret_basic"],
        }

    def authorize(self, query: dict[str, str]) -> str:
        """Return the callback address of the browser."""
        assert query["client_id"] == CLIENT_ID
        assert query["code_challenge_method"] == "S256"
        assert "openid" in query["scope"].split()
        if self.refuses:
            answer = {"error": "access_denied", "state": query["state"]}
        else:
            code = secrets.token_urlsafe()
            self._asked[code] = query
            answer = {"code": code, "state": query["state"]}
        return f"{query['redirect_uri']}?{urlencode(answer)}"

    def token(self, sent: dict[str, str], credentials: str) -> dict[str, Any]:
        """Return the tokens for a code, which is valid once and only for its client."""
        assert base64.b64decode(credentials.removeprefix("Basic ")).decode() == f"{CLIENT_ID}:{CLIENT_SECRET}"
        requested = self._asked.pop(sent["code"])
        assert sent["redirect_uri"] == requested["redirect_uri"]
        digest = hashlib.sha256(sent["code_verifier"].encode()).digest()
        assert base64.urlsafe_b64encode(digest).decode().rstrip("=") == requested["code_challenge"]
        now = int(time.time())
        actual = {name: value for name, value in self.person.items() if name not in self.only_in_userinfo}
        claims = {
            "iss": self.issuer, "aud": CLIENT_ID, "iat": now, "exp": now + 300, "nonce": requested["nonce"],
            **actual, **self.spoiled,
        }  # fmt: skip
        header = {"alg": "RS256", "kid": self.signs_with.kid}
        id_token = jwt.encode(header, claims, self.signs_with)
        return {"access_token": "opaque", "token_type": "Bearer", "expires_in": 300, "id_token": id_token}


@cache
def key(kid: str, *, forged: bool = False) -> RSAKey:
    """Return the key with this id; the forged key has the same id but differs."""
    return RSAKey.generate_key(2048, {"kid": kid}, private=True)


@contextmanager
def provider() -> Iterator[Provider]:
    """Run a provider on a free port of this machine."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path, requested = _read(self.path)
            if path == "/authorize":
                self.send_response(302)
                self.send_header("Location", running.authorize(requested))
                self.end_headers()
            elif path == "/keys":
                self._say(KeySet([running.key]).as_dict(private=False))
            elif path == "/userinfo":
                assert self.headers["Authorization"] == "Bearer opaque"
                self._say(running.person)
            else:
                assert path == "/.well-known/openid-configuration"
                self._say(running.discovery())

        def do_POST(self) -> None:
            sent = self.rfile.read(int(self.headers["Content-Length"])).decode()
            _, form = _read(f"?{sent}")
            self._say(running.token(form, self.headers["Authorization"]))

        def _say(self, body: Any) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.end_headers()
            self.wfile.write(json.dumps(body).encode())

        def log_message(self, format: str, *args: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        running = Provider(f"http://localhost:{server.server_port}")
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield running
        finally:
            server.shutdown()


def _read(address: str) -> tuple[str, dict[str, str]]:
    parts = urlsplit(address)
    return parts.path, {name: values[0] for name, values in parse_qs(parts.query).items()}
