"""The servers that the user is logged in to, in a file that only the user can read."""

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from urllib.parse import urlsplit

from queuecast.problems import Refused, unknown

HERE = "http://127.0.0.1:8000"
FILE = "QUEUECAST_CONFIG"
"""The environment variable for another file."""
_PRIVATE_FILE, _PRIVATE_FOLDER, _OTHERS = 0o600, 0o700, 0o077


@dataclass(frozen=True)
class Context:
    """A server with the user's token."""

    server: str
    token: str


@dataclass(frozen=True)
class Contexts:
    """The contexts by name, and the current one."""

    by_name: Mapping[str, Context]
    current: str = ""

    @classmethod
    def read(cls) -> "Contexts":
        """Return the stored contexts; raise Refused for a file that others can read, or that is damaged."""
        path = config_path()
        if not path.exists():
            return cls({})
        if path.stat().st_mode & _OTHERS:
            raise Refused(f"{path} holds tokens, and others can read it: chmod 600 {path}.")
        try:
            held = json.loads(path.read_text(encoding="utf-8"))
            by_name = {name: Context(**context) for name, context in held["contexts"].items()}
            return cls(by_name, str(held["current"]))
        except (ValueError, TypeError, KeyError, AttributeError):
            raise Refused(f"{path} is damaged; remove it and log in again.") from None

    def write(self) -> None:
        """Store the contexts, readable by the user only from the start."""
        path = config_path()
        path.parent.mkdir(mode=_PRIVATE_FOLDER, parents=True, exist_ok=True)
        beside = path.with_name(f"{path.name}.new")
        beside.unlink(missing_ok=True)
        contexts = {name: asdict(context) for name, context in sorted(self.by_name.items())}
        text = json.dumps({"current": self.current, "contexts": contexts}, indent=2) + "\n"
        with os.fdopen(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _PRIVATE_FILE), "w") as file:
            file.write(text)
        beside.replace(path)

    def one(self, name: str) -> Context:
        """Return the context of this name."""
        if name not in self.by_name:
            raise unknown("context", name, self.by_name, where=f"in {config_path()}")
        return self.by_name[name]

    def with_one(self, name: str, context: Context) -> "Contexts":
        """Return the contexts with one more, which becomes the current one."""
        return Contexts({**self.by_name, name: context}, name)

    def using(self, name: str) -> "Contexts":
        """Return the contexts with another current one."""
        self.one(name)
        return Contexts(self.by_name, name)

    def without(self, name: str) -> "Contexts":
        """Return the contexts without one."""
        self.one(name)
        left = {other: context for other, context in self.by_name.items() if other != name}
        return Contexts(left, "" if self.current == name else self.current)


def config_path() -> Path:
    """Return the path of the file."""
    if named := os.environ.get(FILE):
        return Path(named)
    home = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    return Path(home) / "queuecast" / "config.json"


def context_name(server: str) -> str:
    """Return the default name of a context: the server's.

    >>> context_name("https://queues.example.com:8443/")
    'queues.example.com:8443'
    """
    return urlsplit(server).netloc or server


def meant_by(server: str = "", token: str = "", context: str = "") -> Context:
    """Return server and token of the options, the environment or the stored contexts, in this order.

    A stored token is only sent to its own server.
    """
    if context:
        stored = Contexts.read().one(context)
        if server.rstrip("/") not in ("", stored.server):
            raise Refused(
                f"Context {context!r} belongs to {stored.server}: give --server or --context, not both."
            )
        return Context(stored.server, token or stored.token)
    environment = Context(os.environ.get("QUEUECAST_URL", ""), os.environ.get("QUEUECAST_TOKEN", ""))
    if server or environment.server or environment.token:
        return Context(server or environment.server or HERE, token or environment.token)
    held = Contexts.read()
    name = os.environ.get("QUEUECAST_CONTEXT") or held.current
    stored = held.one(name) if name else Context(HERE, "")
    return Context(stored.server, token or stored.token)
