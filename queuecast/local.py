"""How are scenarios made, changed, run and compared without a server? On files, with the same core."""

import copy
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any
from urllib.parse import quote

import manifests
from manifests.differences import Difference, differences
from queuecast.beside import side_by_side
from queuecast.desk import Files, Json, Progress
from queuecast.exported import exported
from queuecast.lint import conf_findings, findings_in
from queuecast.outcome import Outcome
from queuecast.plans import Refused, changed, read_bytes, refuse_errors, simulate
from queuecast.sending import bare_document

FOLDER = Path(".queuecast")
_METADATA = ("annotations", "labels")


class Local:
    """A folder with snapshots, scenarios and runs, each a JSON file; names are the ids."""

    def __init__(self, folder: Path = FOLDER) -> None:
        self._folder = folder

    def import_files(self, files: Files, *, name: str, progress: Progress | None = None) -> Json:
        """Read a cluster; return the snapshot."""
        reading = read_bytes(files, progress)
        snapshot = {
            "id": name,
            "name": name,
            "counts": dict(reading.counts),
            "problems": [*(asdict(found) for found in reading.problems), *findings_in(reading)],
            "document": bare_document(reading),
        }
        self._keep("snapshots", name, snapshot)
        return _head(snapshot)

    def snapshots(self) -> list[Json]:
        """Return the snapshots, newest first."""
        return [_head(snapshot) for snapshot in self._all("snapshots")]

    def scenarios(self) -> list[Json]:
        """Return the scenarios, last changed first."""
        return [_head(scenario) for scenario in self._all("scenarios")]

    def scenario_create(self, snapshot: str, name: str) -> Json:
        """Begin a what-if."""
        document = self._document("snapshots", snapshot)
        return self._begin(name, snapshot=snapshot, parent=None, document=document)

    def scenario_branch(self, scenario: str, name: str) -> Json:
        """Begin a what-if where another one stands."""
        there = self._one("scenarios", scenario)
        return self._begin(name, snapshot=there["snapshot"], parent=scenario, document=there["document"])

    def scenario_remove(self, scenario: str) -> None:
        """Remove a scenario with its runs."""
        self._one("scenarios", scenario)
        for run in self._all("runs"):
            if run["scenario"] == scenario:
                self._path("runs", run["id"]).unlink()
        self._path("scenarios", scenario).unlink()

    def scenario_diff(self, scenario: str) -> list[Json]:
        """Return what differs from the snapshot: kind, name, field, before, after."""
        there = self._one("scenarios", scenario)
        found = differences([self._document("snapshots", there["snapshot"]), there["document"]])
        return [
            {"kind": one.kind, "name": one.name, "field": _told(one), "before": before, "after": after}
            for one in found
            for before, after in [one.values]
        ]

    def scenario_export(self, scenario: str) -> str:
        """Return the queues that differ from the snapshot, and the configuration if it does, as YAML."""
        return exported(self.scenario_diff(scenario), self.queues(scenario), self.conf(scenario))

    def queues(self, scenario: str) -> list[Json]:
        """Return the queues in the spelling of their CRD."""
        return [_fields(queue) for queue in self._document("scenarios", scenario).get("queues", ())]

    def queue_set(self, scenario: str, queue: str, patch: Mapping[str, Any]) -> Json:
        """Change a queue by a JSON merge patch; return it."""
        there = self._one("scenarios", scenario)
        manifest = next(
            (one for one in there["document"].get("queues", ()) if one["metadata"]["name"] == queue), None
        )
        if manifest is None:
            raise Refused([f"Scenario {scenario!r} has no queue {queue!r}."])
        for field, value in patch.items():
            part = {"state": "status"}.get(field, "metadata" if field in _METADATA else "spec")
            manifest[part] = _merged(manifest.get(part), {field: value})
        self._edit(there)
        return _fields(manifest)

    def conf(self, scenario: str) -> str:
        """Return the scheduler configuration."""
        conf = self._document("scenarios", scenario).get("scheduler_conf", "")
        return conf if isinstance(conf, str) else manifests.dump(conf)

    def conf_set(self, scenario: str, text: str) -> list[Json]:
        """Replace the scheduler configuration; return what is worth knowing about it."""
        there = self._one("scenarios", scenario)
        if wrong := [one for one in manifests.conf_problems(text) if one.severity == "error"]:
            raise Refused([f"line {one.line}: {one.message}" for one in wrong])
        there["document"]["scheduler_conf"] = text
        self._edit(there)
        return conf_findings(text)

    def conf_patch(self, scenario: str, operations: Any) -> list[Json]:
        """Edit the scheduler configuration by a JSON patch; return what is worth knowing about it.

        Lines that the patch does not touch stay byte for byte.
        """
        try:
            text = manifests.conf_patched(self.conf(scenario), operations)
        except manifests.Unreadable as error:
            raise Refused([f"{one.path}: {one.message}" for one in error.problems]) from None
        return self.conf_set(scenario, text)

    def job_add(self, scenario: str, text: str) -> list[str]:
        """Add the objects of a manifest; return their kinds and names."""
        there = self._one("scenarios", scenario)
        added = bare_document(read_bytes([("manifest", text.encode())]))
        there["document"] = changed(there["document"], added)
        self._edit(there)
        return [f"{kind}/{_key(held)}" for kind, held in _objects(added)]

    def run_start(self, scenario: str, *, cycles: int = 1) -> Json:
        """Note a run; it is simulated when it is waited for."""
        there = self._one("scenarios", scenario)
        number = str(max((int(run["id"]) for run in self._all("runs")), default=0) + 1)
        run = {
            "id": number,
            "state": "queued",
            "scenario": scenario,
            "scenario_revision": there["revision"],
            "options": {"cycles": cycles},
            "document": {**there["document"], "cycles": cycles},
        }
        self._keep("runs", number, run)
        return _head(run)

    def run_wait(self, run: str, progress: Progress | None = None) -> Json:
        """Simulate a run that was not yet; return it."""
        there = self._one("runs", run)
        if there["state"] == "queued":
            there["result"] = simulate(there["document"], progress)
            there["notes"] = there["result"]["notes"]
            there["state"] = "succeeded"
            self._keep("runs", run, there)
        return _head(there)

    def run_queues(self, run: str) -> list[Json]:
        """Return what a run made of each queue."""
        return [{"queue": name, **held} for name, held in self._outcome(run).queues.items()]

    def run_jobs(self, run: str) -> list[Json]:
        """Return what a run made of each job."""
        return [dict(job) for job in self._outcome(run).jobs.values()]

    def run_victims(self, run: str) -> list[Json]:
        """Return whom a run evicts."""
        return [asdict(victim) for victim in self._outcome(run).victims]

    def run_documents(self, run: str) -> tuple[Json, Json]:
        """Return what a run read and what the core answered."""
        there = self._simulated(run)
        return there["document"], there["result"]

    def compare(self, runs: Sequence[str]) -> Json:
        """Return runs side by side."""
        heads = [_head(self._one("runs", run)) for run in runs]
        settings = differences([self._document("runs", run) for run in runs])
        return side_by_side(heads, settings, [self._outcome(run) for run in runs])

    def _outcome(self, run: str) -> Outcome:
        return Outcome.of(self._simulated(run)["result"])

    def _simulated(self, run: str) -> Json:
        there = self._one("runs", run)
        if "result" not in there:
            raise Refused([f"Run {run} has not been simulated: queuecast --local run {there['scenario']}."])
        return there

    def _begin(self, name: str, *, snapshot: str, parent: str | None, document: Json) -> Json:
        if self._path("scenarios", name).exists():
            raise Refused([f"Scenario {name!r} already exists."])
        scenario = {
            "id": name,
            "name": name,
            "snapshot": snapshot,
            "parent": parent,
            "revision": 1,
            "document": copy.deepcopy(document),
        }
        self._keep("scenarios", name, scenario)
        return _head(scenario)

    def _edit(self, scenario: Json) -> None:
        """Keep an edited scenario under the next revision, or refuse it with every problem."""
        refuse_errors(scenario["document"])
        scenario["revision"] += 1
        self._keep("scenarios", scenario["name"], scenario)

    def _document(self, kind: str, name: str) -> Json:
        return dict(self._one(kind, name)["document"])

    def _one(self, kind: str, name: str) -> Json:
        try:
            held: Json = json.loads(self._path(kind, name).read_bytes())
        except FileNotFoundError:
            raise Refused([f"No {kind.removesuffix('s')} {name!r} in {self._folder}."]) from None
        return held

    def _all(self, kind: str) -> list[Json]:
        files = sorted((self._folder / kind).glob("*.json"), key=lambda path: -path.stat().st_mtime_ns)
        return [json.loads(path.read_bytes()) for path in files]

    def _keep(self, kind: str, name: str, held: Json) -> None:
        path = self._path(kind, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(held, ensure_ascii=False), encoding="utf-8")

    def _path(self, kind: str, name: str) -> Path:
        return self._folder / kind / f"{quote(name, safe='')}.json"


def _head(held: Json) -> Json:
    """Return what stands about a thing without its content."""
    return {key: value for key, value in held.items() if key not in ("document", "result")}


def _fields(queue: Mapping[str, Any]) -> Json:
    metadata = queue["metadata"]
    state = (queue.get("status") or {}).get("state")
    return {
        "name": metadata["name"],
        **(queue.get("spec") or {}),
        **({"state": state} if state else {}),
        **{part: metadata[part] for part in _METADATA if metadata.get(part)},
    }


def _told(one: Difference) -> str:
    """Return a field as a server tells it: those of a queue without the part of the object they stand in."""
    return one.field.removeprefix("spec.").removeprefix("metadata.") if one.kind == "queues" else one.field


def _merged(target: Any, patch: Any) -> Any:
    """Return `target` changed by a JSON merge patch (RFC 7396)."""
    if not isinstance(patch, Mapping):
        return patch
    merged = dict(target or {})
    for key, value in patch.items():
        if value is None:
            merged.pop(key, None)
        else:
            merged[key] = _merged(merged.get(key), value)
    return merged


def _objects(document: Mapping[str, Any]) -> Iterator[tuple[str, Json]]:
    for kind, objects in document.items():
        if isinstance(objects, list):
            yield from ((kind, held) for held in objects)


def _key(held: Mapping[str, Any]) -> str:
    metadata = held["metadata"]
    return "/".join(part for part in (metadata.get("namespace"), metadata["name"]) if part)
