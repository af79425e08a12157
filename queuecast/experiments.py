"""Experiments in files, and their clusters."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from manifests.document import Document
from manifests.paths import steps_to
from planning.experiments.cells import Grid
from planning.experiments.definition import (
    SWEEP,
    Definition,
    grid_of,
    name_problems,
    written_problems,
)
from queuecast.backend import Backend, Json
from queuecast.client import Client
from queuecast.core import snapshot_document
from queuecast.forecasts import text_of
from queuecast.plans import contents, read_bytes
from queuecast.problems import refusal
from queuecast.schema import problem_at, read_checked


@dataclass(frozen=True)
class Experiment:
    """An experiment as written: its document, and the folder that its paths are relative to."""

    label: str
    folder: Path
    document: Document

    @classmethod
    def read(cls, path: Path) -> "Experiment":
        """Return the experiment in a file, or raise Refused with every problem and its line."""
        ((label, content),) = contents([path])
        return cls(label, path.parent, read_checked(label, content, "experiment"))

    @property
    def written(self) -> Mapping[str, Any]:
        """Return the definition in the file."""
        return dict(self.document.value)

    def grid(self, backend: Backend, kind: str) -> Grid:
        """Return all combinations of its settings, or raise Refused with all that is wrong with them."""
        written = self.of_kind(kind)
        if wrong := written_problems(written):
            raise refusal([self.placed(asdict(one)) for one in wrong])
        grid, wrong = grid_of(self._base(backend), written, self._workload())
        wrong += name_problems(grid.document, Definition.of(written), grid)
        if wrong:
            raise refusal([self.placed(asdict(one)) for one in wrong])
        return grid

    def of_kind(self, kind: str) -> Json:
        """Return the definition without what is for the other kind: a file may serve both."""
        other = "goals" if kind == SWEEP else "sample"
        return {key: value for key, value in self.written.items() if key != other}

    def placed(self, problem: Mapping[str, Any]) -> Json:
        """Return a problem of the experiment with its file and line."""
        steps = steps_to(self.document.value, problem.get("path") or "")
        line = self.document.place(steps).line + 1
        return {**problem, "document": self.label, "line": line}

    def part(self, name: str) -> Sequence[Mapping[str, Any]]:
        """Return a list that this kind of experiment needs, or raise Refused if it is missing."""
        if name not in self.written:
            message = (f"the experiment has no {name}", f"write {name}")
            raise refusal([problem_at(self.label, self.document, (), "experiment.missing", *message)])
        listed: Sequence[Mapping[str, Any]] = self.written[name]
        return listed

    def _workload(self) -> str:
        """Return the text of the trace; empty for cells that are runs, and for patterns."""
        trace = (self.written.get("forecast") or {}).get("trace")
        if trace is None:
            return ""
        if isinstance(trace, str):
            message = (f"trace {trace!r} is on a server", "write trace: {file: trace.csv}")
            at = ("forecast", "trace")
            raise refusal([problem_at(self.label, self.document, at, "experiment.trace", *message)])
        return text_of(self.folder / trace["file"])

    def _base(self, backend: Backend) -> Json:
        if "scenario" in self.written:
            return backend.scenario_document(self.written["scenario"])
        snapshot = self.written["snapshot"]
        if isinstance(snapshot, str):
            return backend.snapshot_document(snapshot)
        files = contents([self.folder / name for name in snapshot["files"]])
        return snapshot_document(read_bytes(files))

    def on_server(self, client: Client, kind: str) -> Json:
        """Return the body for a server; files of a cluster are imported there first."""
        written = self.of_kind(kind)
        snapshot = written.get("snapshot")
        if isinstance(snapshot, Mapping):
            files = contents([self.folder / name for name in snapshot["files"]])
            name = snapshot.get("name") or self.written["name"]
            written["snapshot"] = client.import_files(files, name=name)["id"]
        trace = (written.get("forecast") or {}).get("trace")
        if isinstance(trace, Mapping):
            ((_, content),) = contents([self.folder / trace["file"]])
            there = client.trace_upload((trace["file"], content), name=Path(trace["file"]).name)
            written["forecast"] = {**written["forecast"], "trace": there["id"]}
        return written
