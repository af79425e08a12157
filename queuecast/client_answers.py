"""Client calls about the verdict on a run and searches for what unblocks a job."""

import time
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from queuecast.backend import Json, Progress
from queuecast.connection import OVER, POLL_SECONDS, Connection


class Answers(Connection):
    """Calls about the verdict and the nodes of a run, searches, labels, clusters, imports and the server."""

    def run_verdict(self, run: str) -> Json:
        """Return the verdict on a run, in sentences and figures, with that of its baseline."""
        return dict(self.server.get(f"{self._run(run)}verdict/"))

    def run_nodes(self, run: str) -> list[Json]:
        """Return each node at the end of a run: its capacity, used and free amounts, and its queues."""
        return list(self.server.rows(f"{self._run(run)}nodes/"))

    def unblocking_start(self, run: str, job: str) -> Json:
        """Start a search for the smallest changes with which a waiting job runs; return it.

        A job is named as the run names it. One search is made for a job of a run; it is not repeated.
        """
        return dict(self.server.call("POST", self._unblocking(run, job)).json)

    def unblocking(self, run: str, job: str) -> Json:
        """Return the progress of that search and its findings; `state` is None without a search."""
        return dict(self.server.get(self._unblocking(run, job)))

    def unblocking_wait(self, run: str, job: str, progress: Progress | None = None) -> Json:
        """Return that search once it has finished."""
        path = self._unblocking(run, job)
        while True:
            found = self._polled(path)
            if progress:
                progress(found["progress"], found["doing"] or str(found["state"]))
            if found["state"] in OVER:
                return found
            time.sleep(POLL_SECONDS)

    def label(self, kind: str, name: str, labels: Mapping[str, Any]) -> Json:
        """Change `name`, `note`, `tags` or `archived` of one of the `runs` or `scenarios`; return it."""
        path = self._run(name) if kind == "runs" else self._scenario(name)
        return dict(self.server.call("PATCH", path, dict(labels)).json)

    def clusters(self) -> list[Json]:
        """Return the clusters whose snapshots the server stores."""
        return list(self.server.rows("clusters/"))

    def imports(self) -> list[Json]:
        """Return the imports that a worker reads or has read, newest first."""
        return list(self.server.rows("imports/"))

    def import_cancel(self, name: str) -> Json:
        """Cancel a queued import at once, signal a running one to stop; return it."""
        return dict(self.server.call("POST", f"imports/{self._id('imports', name)}/cancel/").json)

    def status(self) -> Json:
        """Return the status of the installation: queued and running work, and the workers."""
        return dict(self.server.get("status/"))

    def _unblocking(self, run: str, job: str) -> str:
        namespace, _, name = job.rpartition("/")
        return f"{self._run(run)}explain/jobs/{quote(namespace or 'default')}/{quote(name)}/unblock/"
