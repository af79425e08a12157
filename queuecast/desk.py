"""What can be done with scenarios, on a server or on files? The same calls, answered alike."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

Json = dict[str, Any]
Files = Sequence[tuple[str, bytes]]
"""Names and contents."""
Progress = Callable[[float, str], None]
"""Receives how far a run or an import is, from 0 to 1, and what it is at."""


class Desk(Protocol):
    """Where scenarios are made, changed, run and compared.

    A scenario or a snapshot is named by its id, or by its name, which means the newest that has it. A run is
    named by its id, or by the name of its scenario, which means the scenario's newest one.
    """

    notes: list[str]
    """What a name was taken to mean where several things have it."""

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
        """Begin a what-if."""

    def scenario_branch(self, scenario: str, name: str) -> Json:
        """Begin a what-if with all that another one says."""

    def scenario_remove(self, scenario: str) -> None:
        """Remove a scenario with its runs."""

    def scenario_document(self, scenario: str) -> Json:
        """Return all that a scenario says, as one document."""

    def scenario_write(self, name: str, snapshot: str, document: Mapping[str, Any]) -> Json:
        """Make the scenario of this name on a snapshot say a document; begin it where there is none.

        Returns the `scenario`, and as `status` whether it was created, changed or unchanged.
        """

    def scenario_diff(self, scenario: str) -> list[Json]:
        """Return what differs from the snapshot: kind, name, field, before, after."""

    def scenario_export(self, scenario: str) -> Json:
        """Return how the snapshot's cluster becomes the scenario: manifests, commands, what is impossible."""

    def scenario_problems(self, scenario: str) -> list[Json]:
        """Return every problem of a scenario, errors first."""

    def queues(self, scenario: str) -> list[Json]:
        """Return the queues in the spelling of their CRD."""

    def queue_set(self, scenario: str, queue: str, patch: Mapping[str, Any]) -> Json:
        """Change a queue by a JSON merge patch; return it."""

    def queue_add(self, scenario: str, fields: Mapping[str, Any]) -> Json:
        """Add a queue; return it."""

    def queue_remove(self, scenario: str, queue: str, *, subtree: bool = False) -> None:
        """Remove a queue, with `subtree` those below it, too."""

    def conf(self, scenario: str) -> str:
        """Return the scheduler configuration."""

    def conf_set(self, scenario: str, text: str) -> list[Json]:
        """Replace the scheduler configuration; return what is worth knowing about it."""

    def conf_patch(self, scenario: str, operations: Any) -> list[Json]:
        """Edit the scheduler configuration by a JSON patch; return what is worth knowing about it.

        Lines that the patch does not touch stay byte for byte.
        """

    def job_add(self, scenario: str, text: str) -> list[str]:
        """Add the objects of a manifest; return their kinds and names."""

    def nodes(self, scenario: str) -> list[Json]:
        """Return the nodes as Kubernetes writes them."""

    def nodes_add(
        self,
        scenario: str,
        *,
        count: int,
        prefix: str,
        like: str = "",
        capacity: Mapping[str, str] | None = None,
    ) -> Json:
        """Add so many nodes like one that is there, or of a capacity; return their `names`."""

    def node_set(self, scenario: str, node: str, patch: Mapping[str, Any]) -> Json:
        """Change a node by a JSON merge patch; return it."""

    def nodes_remove(self, scenario: str, names: Sequence[str]) -> None:
        """Remove nodes in one revision; their pods stay and take no room."""

    def job_remove(self, scenario: str, job: str) -> None:
        """Remove a job with all that belongs to it."""

    def run_start(self, scenario: str, *, cycles: int = 1) -> Json:
        """Ask for a run."""

    def run_wait(self, run: str, progress: Progress | None = None, *, seconds: float | None = None) -> Json:
        """Return a run once it is over, or on a server as it is after so many seconds."""

    def runs(self, scenario: str = "") -> list[Json]:
        """Return the runs, newest first, of all scenarios or of one."""

    def run_queues(self, run: str) -> list[Json]:
        """Return what a run made of each queue."""

    def run_jobs(self, run: str) -> list[Json]:
        """Return what a run made of each job."""

    def run_decisions(self, run: str, **filters: str) -> list[Json]:
        """Return the steps of a run in their order; filters are `job`, `pod`, `node`, `action`, `op`."""

    def run_victims(self, run: str) -> list[Json]:
        """Return which pods a run evicts."""

    def run_documents(self, run: str) -> tuple[Json, Json]:
        """Return what a run read and what the core answered."""

    def compare(self, runs: Sequence[str]) -> Json:
        """Return runs side by side."""
