"""Names, preconditions and waiting in calls to a server."""

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http import HTTPStatus
from typing import Any
from uuid import UUID

from queuecast.backend import Json, Progress
from queuecast.contexts import meant_by
from queuecast.problems import Refused, Rejected, unknown
from queuecast.server import PASSING, Failure, Server, Unreachable

OVER = ("succeeded", "failed", "cancelled")
POLL_SECONDS = 0.3
AWAY_SECONDS = 60.0
"""How long a server may be away while work on it is awaited."""
_LISTS = {"queue": "queues", "node": "nodes", "job": "workloads"}
"""The part of a scenario's address for each kind of object."""


class Connection:
    """A server, with the token's account."""

    def __init__(
        self, address: str = "", token: str = "", *, context: str = "", dry_run: bool = False
    ) -> None:
        meant = meant_by(address, token, context)
        self.server = Server(meant.server, meant.token, dry_run=dry_run)
        self.notes: list[str] = []
        """How an ambiguous name was resolved."""

    def _followed(self, path: str, progress: Progress | None, seconds: float | None = None) -> Json:
        """Return a run or an import once it has finished, or as it is after some seconds."""
        end = None if seconds is None else time.monotonic() + seconds
        while True:
            body = self._polled(path)
            if progress:
                progress(body["progress"], body["doing"] or body["state"])
            if body["state"] in OVER or (end is not None and time.monotonic() >= end):
                return body
            time.sleep(POLL_SECONDS)

    def _polled(self, path: str) -> Json:
        """Return the response to a repeated call; a server that is away is asked again for a while.

        The work itself continues when a server restarts.
        """
        until = time.monotonic() + AWAY_SECONDS
        while True:
            try:
                return dict(self.server.get(path))
            except Rejected as error:
                is_passing = isinstance(error, Unreachable) or getattr(error, "status", None) in PASSING
                if not is_passing or time.monotonic() > until:
                    raise
            time.sleep(POLL_SECONDS)

    def _edit(self, method: str, path: str, body: Any, *, seen_at: str = "") -> Any:
        """Edit the current revision, which the request names."""
        seen = self.server.call("GET", seen_at or path).headers["ETag"]
        return self.server.call(method, path, body, headers={"If-Match": seen}).json

    def _scenario(self, name: str) -> str:
        return f"scenarios/{self._id('scenarios', name)}/"

    def _run(self, name: str) -> str:
        return f"runs/{self._run_id(name)}/"

    def _run_id(self, name: str) -> str:
        """Return the id of a run, or that of the newest run of the scenario with this name."""
        if is_id(name):
            return name
        runs = self.server.get(f"{self._scenario(name)}runs/", page_size=1)["results"]
        if not runs:
            raise Refused(f"Scenario {name!r} has no run yet: queuecast run {name}.", code="not_found")
        return str(runs[0]["id"])

    def _id(self, kind: str, name: str) -> str:
        """Return the id of an object by id, or of the newest one with this name."""
        if is_id(name):
            return name
        found = [row for row in self.server.rows(f"{kind}/", name=name) if row["name"] == name]
        if not found:
            raise unknown(kind.removesuffix("s"), name, (row["name"] for row in self.server.rows(f"{kind}/")))
        if len(found) > 1:
            others = ", ".join(f"{row['id']} ({row['created']})" for row in found[1:])
            self.notes.append(f"{len(found)} {kind} are named {name!r}; the newest is used. Others: {others}")
        return str(found[0]["id"])

    @contextmanager
    def _known(self, path: str, what: str, name: str) -> Iterator[None]:
        """Suggest names for one that was not found."""
        try:
            yield
        except Failure as failure:
            if failure.status != HTTPStatus.NOT_FOUND:
                raise
            rows = self.server.rows(f"{path}{_LISTS[what]}/")
            raise unknown(what, name, map(_name_of, rows), where="in the scenario") from None


def is_id(name: str) -> bool:
    """Return whether it is an id instead of a name."""
    try:
        UUID(name)
    except ValueError:
        return False
    return True


def _name_of(row: Mapping[str, Any]) -> str:
    """Return what a queue, a node or a workload is called in a list."""
    if "metadata" in row:
        return str(row["metadata"]["name"])
    return f"{row['namespace']}/{row['name']}" if "namespace" in row else str(row["name"])
