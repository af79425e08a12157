"""The main journey with a client generated from the schema; it runs in the environment of that client.

It reads cluster.yaml and scheduler.yaml from the current folder, and prints the results of the calls as JSON.
"""

import json
import os
import sys
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any, TypeVar
from uuid import UUID

from queuecast_api import AuthenticatedClient
from queuecast_api.api.bundles import bundles_create
from queuecast_api.api.comparisons import comparisons_retrieve
from queuecast_api.api.runs import (
    runs_bundle_retrieve,
    runs_explain_queues_retrieve,
    runs_queues_list,
    runs_retrieve,
    runs_victims_list,
)
from queuecast_api.api.scenarios import (
    scenarios_create,
    scenarios_preview_create,
    scenarios_preview_retrieve,
    scenarios_queues_list,
    scenarios_queues_partial_update,
    scenarios_runs_create,
)
from queuecast_api.api.snapshots import snapshots_create
from queuecast_api.models import (
    BundleFileRequest,
    BundleImported,
    Comparison,
    EditsPreviewed,
    Error,
    PatchedQueueRequest,
    Preview,
    QueueEdited,
    QueuesPatchRequest,
    QueuesPatchRequestQueues,
    QueueStory,
    Run,
    RunOptionsRequest,
    Scenario,
    ScenarioCreateRequest,
    Snapshot,
    SnapshotFilesRequest,
    Stale,
)
from queuecast_api.types import File

QUEUE, WEIGHT = "agents", 2
_Answer = TypeVar("_Answer")


@dataclass(frozen=True)
class Journey:
    """The steps of a caller of the generated functions."""

    client: AuthenticatedClient

    def imported(self, *files: str) -> Snapshot:
        """Import files as written by `kubectl`; for an unreadable file the client returns the line."""
        broken = snapshots_create.sync(client=self.client, body=_files(broken=b"kind: [Queue\n"))
        assert _is(broken, Error).problems[0].line == 2
        body = _files(**{name: Path(name).read_bytes() for name in files})
        return _is(snapshots_create.sync(client=self.client, body=body), Snapshot)

    def begun(self, snapshot: UUID) -> Scenario:
        """Create a scenario."""
        body = ScenarioCreateRequest(name="generated", snapshot=snapshot)
        return _is(scenarios_create.sync(client=self.client, body=body), Scenario)

    def previewed(self, scenario: UUID) -> float:
        """Return the increase of the queue's deserved GPUs by an unsaved edit."""
        now = _is(scenarios_preview_retrieve.sync(scenario, client=self.client), Preview)
        edits = QueuesPatchRequestQueues()
        edits[QUEUE] = {"weight": WEIGHT}
        body = QueuesPatchRequest(queues=edits)
        then = _is(scenarios_preview_create.sync(scenario, client=self.client, body=body), EditsPreviewed)
        assert [queue.weight for queue in then.edited] == [WEIGHT]
        return _deserved(then) - _deserved(now)

    def edited(self, scenario: Scenario) -> Stale:
        """Change the weight of the queue; return the error code of the same edit when it is stale."""
        queues = scenarios_queues_list.sync(scenario.id, client=self.client)
        assert QUEUE in [queue.name for queue in queues.results]
        edit = {
            "client": self.client,
            "body": PatchedQueueRequest(weight=WEIGHT),
            "if_match": f'"{scenario.revision}"',
        }
        done = _is(scenarios_queues_partial_update.sync(scenario.id, QUEUE, **edit), QueueEdited)
        assert (done.weight, type(done.problems)) == (WEIGHT, list)
        return _is(scenarios_queues_partial_update.sync(scenario.id, QUEUE, **edit), Stale)

    def run(self, scenario: UUID) -> Run:
        """Run a scenario and return the finished run."""
        options = {"client": self.client, "body": RunOptionsRequest(cycles=1)}
        return self.over(_is(scenarios_runs_create.sync(scenario, **options), Run))

    def over(self, run: Run) -> Run:
        """Return a run once it is finished."""
        return _is(runs_retrieve.sync(run.id, client=self.client, prefer="wait=30"), Run)

    def victims(self, run: Run) -> list[str]:
        """Return the pods that a run evicts, after reading every queue and the explanation of one."""
        outcomes = runs_queues_list.sync(run.id, client=self.client).results
        assert QUEUE in [outcome.queue for outcome in outcomes]
        _is(runs_explain_queues_retrieve.sync(run.id, QUEUE, client=self.client), QueueStory)
        return [victim.pod for victim in runs_victims_list.sync(run.id, client=self.client).results]

    def compared(self, before: Run, after: Run) -> Comparison:
        """Compare two runs."""
        both = f"{before.id},{after.id}"
        return _is(comparisons_retrieve.sync(client=self.client, runs=both), Comparison)

    def repeated(self, run: Run) -> bool:
        """Return whether the bundle of a run, imported again, gives the same result."""
        bundle = _is(runs_bundle_retrieve.sync(run.id, client=self.client), File)
        body = BundleFileRequest(file=File(bundle.payload, "run.zip", "application/zip"))
        imported = _is(bundles_create.sync(client=self.client, body=body), BundleImported)
        return self.over(_is(imported.run, Run)).result_sha256 == imported.result_sha256


def main() -> None:
    """Import, edit, preview, run, read the victims, compare, and export a run as a bundle."""
    client = AuthenticatedClient(
        base_url=os.environ["ADDRESS"], token=os.environ["TOKEN"], prefix="Token", timeout=60
    )
    journey = Journey(client)
    snapshot = journey.imported("cluster.yaml", "scheduler.yaml")
    scenario = journey.begun(snapshot.id)
    before = journey.run(scenario.id)
    more = journey.previewed(scenario.id)
    stale = journey.edited(scenario)
    after = journey.run(scenario.id)
    compared = journey.compared(before, after)
    actual = {
        "imported": snapshot.counts.additional_properties,
        "more_gpus": more,
        "stale": stale.code,
        "runs": [str(before.id), str(after.id)],
        "states": [before.state, after.state],
        "victims": journey.victims(after),
        "settings": [[one.kind, one.name, one.field, one.values] for one in compared.settings],
        "new": compared.runs[1].victims_new,
        "repeated": journey.repeated(after),
    }
    json.dump(actual, sys.stdout)


def _files(**contents: bytes) -> SnapshotFilesRequest:
    files = [File(BytesIO(content), name, "application/yaml") for name, content in contents.items()]
    return SnapshotFilesRequest(name="generated", files=files)


def _deserved(preview: Any) -> float:
    (queue,) = [one for one in preview.queues if one.queue == QUEUE]
    return queue.deserved["nvidia.com/gpu"].value / 1000


def _is(answer: object, kind: type[_Answer]) -> _Answer:
    """Return a response after checking its type against the schema."""
    assert isinstance(answer, kind), answer
    return answer


if __name__ == "__main__":
    main()
