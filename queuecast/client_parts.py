"""Client calls about the nodes, jobs and history of a scenario."""

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

from queuecast.backend import Json
from queuecast.connection import Connection
from queuecast.problems import Refused, unknown


class Parts(Connection):
    """Calls about nodes, workloads, releases and revisions of a scenario."""

    def nodes(self, scenario: str) -> list[Json]:
        """Return the nodes as Kubernetes objects."""
        return list(self.server.rows(f"{self._scenario(scenario)}nodes/"))

    def nodes_add(
        self,
        scenario: str,
        *,
        count: int,
        prefix: str,
        like: str = "",
        capacity: Mapping[str, str] | None = None,
    ) -> Json:
        """Add copies of a node, or nodes of a given capacity; return their `names`."""
        path = self._scenario(scenario)
        shape: Json = {"like": like} if like else {"capacity": dict(capacity or {})}
        body = {"count": count, "prefix": prefix, **shape}
        return dict(self._edit("POST", f"{path}nodes/add/", body, seen_at=path))

    def node_set(self, scenario: str, node: str, patch: Mapping[str, Any]) -> Json:
        """Change a node by a JSON merge patch; return it."""
        path = self._scenario(scenario)
        with self._known(path, "node", node):
            return dict(self._edit("PATCH", f"{path}nodes/{quote(node, safe='')}/", patch, seen_at=path))

    def nodes_remove(self, scenario: str, names: Sequence[str]) -> None:
        """Remove nodes in one revision; their pods stay, but use no resources of any node."""
        path = self._scenario(scenario)
        present = [node["metadata"]["name"] for node in self.nodes(scenario)]
        for name in names:
            if name not in present:
                raise unknown("node", name, present, where="in the scenario")
        self._edit("PATCH", f"{path}document/", {"removed": {"nodes": list(names)}}, seen_at=path)

    def jobs(self, scenario: str) -> list[Json]:
        """Return vcjobs, PodGroups with their pods, and single pods."""
        return list(self.server.rows(f"{self._scenario(scenario)}workloads/"))

    def job_set(self, scenario: str, job: str, fields: Mapping[str, Any]) -> Json:
        """Change queue, priorityClassName, minMember, replicas or requests of `namespace/name`; return it."""
        path = self._scenario(scenario)
        return dict(self._edit("PATCH", f"{path}workloads/{self._job(scenario, job)}/", fields, seen_at=path))

    def job_remove(self, scenario: str, job: str) -> None:
        """Remove a workload with its podgroup and its pods."""
        path = self._scenario(scenario)
        self._edit("DELETE", f"{path}workloads/{self._job(scenario, job)}/", None, seen_at=path)

    def job_copy(self, scenario: str, job: str, count: int = 1) -> list[str]:
        """Add waiting copies of a workload; return their kinds and names."""
        path = self._scenario(scenario)
        kind, namespace, name = self._job(scenario, job).split("/")
        copy = {"kind": kind, "namespace": namespace, "name": name, "count": count}
        added = self._edit("POST", f"{path}workloads/", {"copy": copy}, seen_at=path)
        return [f"{one['kind']}/{one['key']}" for one in added["objects"]]

    def scenario_rename(self, scenario: str, name: str) -> Json:
        """Rename a scenario; return it."""
        return dict(self.server.call("PATCH", self._scenario(scenario), {"name": name}).json)

    def scenario_undo(self, scenario: str) -> Json:
        """Undo the last revision; return the scenario."""
        return self._step(scenario, "undo")

    def scenario_redo(self, scenario: str) -> Json:
        """Redo the last undone revision; return the scenario."""
        return self._step(scenario, "redo")

    def scenario_history(self, scenario: str) -> list[Json]:
        """Return the changes with user, time, old and new value, newest first."""
        return list(self.server.rows(f"{self._scenario(scenario)}changes/"))

    def scenario_revert(self, scenario: str, kind: str, key: str, field: str = "") -> Json:
        """Restore one object as it is in the snapshot; return the scenario."""
        path, named = self._scenario(scenario), {"kind": kind, "key": key, "field": field}
        return dict(self._edit("POST", f"{path}diff/revert/", named, seen_at=path))

    def scenario_preview(self, scenario: str) -> Json:
        """Return deserved, real capability and allocated of each queue when a session opens."""
        return dict(self.server.get(f"{self._scenario(scenario)}preview/"))

    def scenario_reach(self, scenario: str, question: Mapping[str, str]) -> Json:
        """Return the smallest change of each kind with which a figure reaches an amount.

        `question` has `figure`, `queue` and `resource` or `job`, and `at_least` or `at_most`. If the answer
        has `next`, repeat the question with it as `after` to continue the search.
        """
        return dict(self.server.get(f"{self._scenario(scenario)}reach/", **question))

    def release(self, scenario: str) -> Json:
        """Return the release of Volcano: selected, imported, and the one whose rules apply."""
        return dict(self.server.get(f"{self._scenario(scenario)}release/"))

    def release_set(self, scenario: str, release: str) -> Json:
        """Select the release; an empty one means the imported one."""
        return dict(self._edit("PUT", f"{self._scenario(scenario)}release/", {"release": release}))

    def _step(self, scenario: str, way: str) -> Json:
        path = self._scenario(scenario)
        return dict(self._edit("POST", f"{path}{way}/", None, seen_at=path))

    def _job(self, scenario: str, job: str) -> str:
        """Return the address of a workload named `name`, `namespace/name` or `kind/namespace/name`."""
        kind, _, rest = job.partition("/") if job.count("/") > 1 else ("", "", job)
        namespace, _, name = rest.rpartition("/")
        rows = self.jobs(scenario)
        found = [
            row
            for row in rows
            if (row["namespace"], row["name"]) == (namespace or "default", name) and kind in ("", row["kind"])
        ]
        if not found:
            known = (f"{row['namespace']}/{row['name']}" for row in rows)
            raise unknown("job", job, known, where="in the scenario")
        if len(found) > 1:
            ways = ", ".join(f"{row['kind']}/{row['namespace']}/{row['name']}" for row in found)
            raise Refused(f"{job!r} is ambiguous: {ways}.", code="ambiguous")
        parts = (found[0][part] for part in ("kind", "namespace", "name"))
        return "/".join(quote(part, safe="") for part in parts)
