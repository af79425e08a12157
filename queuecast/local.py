"""Scenarios in a local folder, with the same core as the server."""

import copy
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import manifests
from manifests.differences import Difference, differences
from planning.documents import of_live_cluster
from queuecast import queues_edited
from queuecast.added import new_job, read_workloads, refuse_taken
from queuecast.applied import changed
from queuecast.backend import Files, Json, Progress
from queuecast.core import faults, reviewed, snapshot_document
from queuecast.exported import exported
from queuecast.lint import conf_findings, findings_in
from queuecast.local_runs import LocalRuns
from queuecast.nodes_edited import job_removed, node_changed, nodes_added, nodes_removed
from queuecast.plans import key_of, read_bytes
from queuecast.problems import as_problem, refusal
from queuecast.store import FOLDER, head


class Local(LocalRuns):
    """A folder with snapshots, scenarios and runs."""

    def __init__(self, folder: Path = FOLDER, *, dry_run: bool = False) -> None:
        super().__init__(folder, dry_run=dry_run)
        self.notes: list[str] = []

    def import_files(
        self, files: Files, *, name: str, progress: Progress | None = None, dry_run: bool = False
    ) -> Json:
        """Read a cluster; return the snapshot. Older snapshots of the same name remain."""
        reading = read_bytes(files, progress)
        if not reading.is_scenario:
            reading.document = of_live_cluster(reading.document)
        snapshot = {
            "id": self._store.free_id("snapshots", name),
            "name": name,
            "counts": dict(reading.counts),
            "problems": [*(as_problem(found) for found in reading.problems), *findings_in(reading)],
            "document": snapshot_document(reading),
        }
        if not dry_run:
            self._store.keep("snapshots", snapshot)
        return head(snapshot) | ({"id": None} if dry_run else {})

    def snapshots(self) -> list[Json]:
        """Return the snapshots, newest first."""
        return [head(snapshot) for snapshot in self._store.all("snapshots")]

    def snapshot_document(self, snapshot: str) -> Json:
        """Return the objects and the configuration of a snapshot."""
        return self._document("snapshots", snapshot)

    def scenarios(self) -> list[Json]:
        """Return the scenarios, last changed first."""
        return [head(scenario) for scenario in self._store.all("scenarios")]

    def scenario_create(self, snapshot: str, name: str) -> Json:
        """Create a scenario."""
        there = self._store.one("snapshots", snapshot)
        return self._begin(name, snapshot=there["id"], parent=None, document=there["document"])

    def scenario_branch(self, scenario: str, name: str) -> Json:
        """Create a branch of a scenario."""
        there = self._scenario(scenario)
        return self._begin(name, snapshot=there["snapshot"], parent=there["id"], document=there["document"])

    def scenario_remove(self, scenario: str) -> None:
        """Remove a scenario with its runs."""
        there = self._scenario(scenario)
        for run in self._store.all("runs"):
            if run["scenario"] == there["id"]:
                self._store.remove("runs", run["id"])
        self._store.remove("scenarios", there["id"])

    def scenario_document(self, scenario: str) -> Json:
        """Return a scenario as one document."""
        return self._document("scenarios", scenario)

    def scenario_write(self, name: str, snapshot: str, document: Mapping[str, Any]) -> Json:
        """Bring the scenario of this name to the state of a document on a snapshot; create it if needed."""
        base = self._store.one("snapshots", snapshot)
        there = next((one for one in self._store.all("scenarios") if one["name"] == name), None)
        if there is None:
            begun = self._begin(name, snapshot=base["id"], parent=None, document=dict(document))
            return {"scenario": begun, "status": "created"}
        wanted = {"snapshot": base["id"], "document": document}
        if wanted == {part: there[part] for part in wanted}:
            return {"scenario": head(there), "status": "unchanged"}
        there |= wanted
        self._edit(there)
        return {"scenario": head(there), "status": "changed"}

    def scenario_diff(self, scenario: str) -> list[Json]:
        """Return the differences from the snapshot: kind, name, field, before, after."""
        there = self._scenario(scenario)
        found = differences([self._base(there), there["document"]])
        return [
            {"kind": one.kind, "name": one.name, "field": _field(one), "before": before, "after": after}
            for one in found
            for before, after in [one.values]
        ]

    def scenario_export(self, scenario: str) -> Json:
        """Return the steps from the cluster to the scenario: manifests, commands, impossible changes."""
        there = self._scenario(scenario)
        return exported(self._base(there), there["document"])

    def scenario_problems(self, scenario: str) -> list[Json]:
        """Return every problem of a scenario, errors first."""
        return reviewed(self._document("scenarios", scenario))

    def queues(self, scenario: str) -> list[Json]:
        """Return the queues, with the field names of their CRD."""
        return queues_edited.listed(self._document("scenarios", scenario))

    def queue_set(self, scenario: str, queue: str, patch: Mapping[str, Any]) -> Json:
        """Change a queue by a JSON merge patch; return it."""
        there = self._scenario(scenario)
        edited = queues_edited.changed(there["document"], queue, patch)
        self._edit(there)
        return edited

    def queue_add(self, scenario: str, fields: Mapping[str, Any]) -> Json:
        """Add a queue; return it."""
        there = self._scenario(scenario)
        added = queues_edited.added(there["document"], fields)
        self._edit(there)
        return added

    def queue_remove(self, scenario: str, queue: str, *, subtree: bool = False) -> None:
        """Remove a queue, with `subtree` also its descendants."""
        there = self._scenario(scenario)
        queues_edited.removed(there["document"], queue, subtree=subtree)
        self._edit(there)

    def conf(self, scenario: str) -> str:
        """Return the scheduler configuration."""
        conf = self._document("scenarios", scenario).get("scheduler_conf", "")
        return conf if isinstance(conf, str) else manifests.dump(conf)

    def conf_set(self, scenario: str, text: str) -> list[Json]:
        """Replace the scheduler configuration; return its findings."""
        there = self._scenario(scenario)
        if wrong := [as_problem(one) for one in manifests.conf_problems(text) if one.severity == "error"]:
            raise refusal(wrong)
        there["document"]["scheduler_conf"] = text
        self._keep(there)
        return conf_findings(text)

    def conf_patch(self, scenario: str, operations: Any) -> list[Json]:
        """Edit the scheduler configuration by a JSON patch; return its findings.

        Lines that the patch does not touch are unchanged, byte for byte.
        """
        try:
            text = manifests.conf_patched(self.conf(scenario), operations)
        except manifests.Unreadable as error:
            raise refusal([as_problem(one) for one in error.problems]) from None
        return self.conf_set(scenario, text)

    def job_add(self, scenario: str, text: str) -> list[str]:
        """Add the objects of a manifest, none of which may exist; return their kinds and names."""
        return self._add(self._scenario(scenario), read_workloads(text))

    def job_create(self, scenario: str, fields: Mapping[str, Any]) -> list[str]:
        """Add a vcjob with one task by its fields; return its kind and name."""
        there = self._scenario(scenario)
        return self._add(there, new_job(there["document"], fields))

    def _add(self, there: Json, added: Mapping[str, Sequence[Json]]) -> list[str]:
        """Add objects to a scenario; return their kinds and names."""
        refuse_taken(there["document"], added)
        there["document"] = changed(there["document"], added)
        self._edit(there)
        return [
            f"{kind}/{'/'.join(filter(None, key_of(kind, one)))}" for kind in added for one in added[kind]
        ]

    def nodes(self, scenario: str) -> list[Json]:
        """Return the nodes as Kubernetes objects."""
        return list(self._document("scenarios", scenario).get("nodes") or ())

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
        there = self._scenario(scenario)
        names = nodes_added(there["document"], count=count, prefix=prefix, like=like, capacity=capacity)
        self._edit(there)
        return {"names": names}

    def node_set(self, scenario: str, node: str, patch: Mapping[str, Any]) -> Json:
        """Change a node by a JSON merge patch; return it."""
        there = self._scenario(scenario)
        edited = node_changed(there["document"], node, patch)
        self._edit(there)
        return edited

    def nodes_remove(self, scenario: str, names: Sequence[str]) -> None:
        """Remove nodes in one revision; their pods stay, but use no resources of any node."""
        there = self._scenario(scenario)
        nodes_removed(there["document"], names)
        self._edit(there)

    def job_remove(self, scenario: str, job: str) -> None:
        """Remove a vcjob or PodGroup with all that belongs to it."""
        there = self._scenario(scenario)
        job_removed(there["document"], job)
        self._edit(there)

    def _begin(self, name: str, *, snapshot: str, parent: str | None, document: Json) -> Json:
        self._store.require_free("scenarios", name)
        scenario = {
            "id": name,
            "name": name,
            "snapshot": snapshot,
            "parent": parent,
            "revision": 1,
            "document": copy.deepcopy(document),
        }
        self._store.keep("scenarios", scenario)
        return head(scenario)

    def _edit(self, scenario: Json) -> None:
        """Store an edited scenario as the next revision, or raise Refused with every formal problem."""
        if wrong := [one for one in faults(scenario["document"]) if not _of_conf(one)]:
            raise refusal(wrong)
        self._keep(scenario)

    def _keep(self, scenario: Json) -> None:
        scenario["revision"] += 1
        self._store.keep("scenarios", scenario)

    def _scenario(self, name: str) -> Json:
        return self._store.one("scenarios", name)

    def _base(self, scenario: Json) -> Json:
        """Return the document of a scenario's snapshot."""
        return dict(self._store.by_id("snapshots", scenario["snapshot"])["document"])

    def _document(self, kind: str, name: str) -> Json:
        return dict(self._store.one(kind, name)["document"])


def _of_conf(one: Mapping[str, Any]) -> bool:
    """Return whether a problem is one of the configuration, which edits of other parts may leave."""
    return str(one["path"] or "").startswith("scheduler_conf")


def _field(one: Difference) -> str:
    """Return a field as a server names it: for queues without the part of the object."""
    return one.field.removeprefix("spec.").removeprefix("metadata.") if one.kind == "queues" else one.field
