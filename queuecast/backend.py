"""The interface of scenarios, implemented by a server and by local files."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

Json = dict[str, Any]
Files = Sequence[tuple[str, bytes]]
"""Names and contents."""
Progress = Callable[[float, str], None]
"""Receives the progress of a run or an import, from 0 to 1, and the current step."""


class Backend(Protocol):
    """Where scenarios are created, edited, run and compared.

    A scenario or a snapshot is named by its id, or by its name, which means the newest that has it. A run is
    named by its id, or by the name of its scenario, which means the scenario's newest one.
    """

    notes: list[str]
    """How an ambiguous name was resolved."""

    def import_files(
        self, files: Files, *, name: str, progress: Progress | None = None, dry_run: bool = False
    ) -> Json:
        """Read a cluster; return the snapshot."""

    def snapshots(self) -> list[Json]:
        """Return the snapshots, newest first."""

    def snapshot_document(self, snapshot: str) -> Json:
        """Return the objects and the configuration of a snapshot."""

    def scenarios(self) -> list[Json]:
        """Return the scenarios, last changed first."""

    def scenario_create(self, snapshot: str, name: str) -> Json:
        """Create a scenario."""

    def scenario_branch(self, scenario: str, name: str) -> Json:
        """Create a branch of a scenario."""

    def scenario_remove(self, scenario: str) -> None:
        """Remove a scenario with its runs."""

    def scenario_document(self, scenario: str) -> Json:
        """Return a scenario as one document."""

    def scenario_write(self, name: str, snapshot: str, document: Mapping[str, Any]) -> Json:
        """Bring the scenario of this name on a snapshot to the state of a document; create it if needed.

        Returns the `scenario`, and as `status` whether it was created, changed or unchanged.
        """

    def scenario_diff(self, scenario: str) -> list[Json]:
        """Return the differences from the snapshot: kind, name, field, before, after."""

    def scenario_export(self, scenario: str) -> Json:
        """Return the steps from the cluster to the scenario: manifests, commands, impossible changes."""

    def scenario_problems(self, scenario: str) -> list[Json]:
        """Return every problem of a scenario, errors first."""

    def queues(self, scenario: str) -> list[Json]:
        """Return the queues, with the field names of their CRD."""

    def queue_set(self, scenario: str, queue: str, patch: Mapping[str, Any]) -> Json:
        """Change a queue by a JSON merge patch; return it."""

    def queue_add(self, scenario: str, fields: Mapping[str, Any]) -> Json:
        """Add a queue; return it."""

    def queue_remove(self, scenario: str, queue: str, *, subtree: bool = False) -> None:
        """Remove a queue, with `subtree` also its descendants."""

    def conf(self, scenario: str) -> str:
        """Return the scheduler configuration."""

    def conf_set(self, scenario: str, text: str) -> list[Json]:
        """Replace the scheduler configuration; return its findings."""

    def conf_patch(self, scenario: str, operations: Any) -> list[Json]:
        """Edit the scheduler configuration by a JSON patch; return its findings.

        Lines that the patch does not touch are unchanged, byte for byte.
        """

    def job_add(self, scenario: str, text: str) -> list[str]:
        """Add the objects of a manifest; return their kinds and names."""

    def job_create(self, scenario: str, fields: Mapping[str, Any]) -> list[str]:
        """Add a vcjob with one task by its fields; return its kind and name."""

    def nodes(self, scenario: str) -> list[Json]:
        """Return the nodes as Kubernetes objects."""

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

    def node_set(self, scenario: str, node: str, patch: Mapping[str, Any]) -> Json:
        """Change a node by a JSON merge patch; return it."""

    def nodes_remove(self, scenario: str, names: Sequence[str]) -> None:
        """Remove nodes in one revision; their pods stay, but use no resources of any node."""

    def job_remove(self, scenario: str, job: str) -> None:
        """Remove a job with all that belongs to it."""

    def run_start(self, scenario: str, *, cycles: int = 1) -> Json:
        """Start a run."""

    def run_wait(self, run: str, progress: Progress | None = None, *, seconds: float | None = None) -> Json:
        """Return a run once it has finished; a server also returns it as it is after some seconds."""

    def runs(self, scenario: str = "") -> list[Json]:
        """Return the runs, newest first, of all scenarios or of one."""

    def run_queues(self, run: str) -> list[Json]:
        """Return the outcome of a run for each queue."""

    def run_jobs(self, run: str) -> list[Json]:
        """Return the outcome of a run for each job."""

    def run_decisions(self, run: str, **filters: str) -> list[Json]:
        """Return the steps of a run in order; filters are `job`, `pod`, `node`, `action`, `op`."""

    def run_victims(self, run: str) -> list[Json]:
        """Return the pods that a run evicts."""

    def run_documents(self, run: str) -> tuple[Json, Json]:
        """Return the input and the result of a run."""

    def compare(self, runs: Sequence[str]) -> Json:
        """Return a comparison of runs."""
