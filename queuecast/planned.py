"""Application of a plan to a snapshot; every problem has the line of the plan or of its files."""

import copy
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from manifests.document import Document, Steps
from manifests.pools import node_like, numbered_names
from planning.queues import merge_patch
from planning.suggestions import written_instead
from queuecast import queues_edited
from queuecast.applied import changed
from queuecast.conf_files import conf_text
from queuecast.core import faults, snapshot_document
from queuecast.followed import followed
from queuecast.job_parts import parts_of
from queuecast.plans import Key, Source, contents, key_of, read_bytes, read_changes
from queuecast.problems import Json, Refused, problem, refusal
from queuecast.rules import Rules
from queuecast.schema import problem_at, read_checked
from queuecast.sending import bare_document

SnapshotOf = Callable[[str], Json]
"""Returns the document of a stored snapshot, by name."""


@dataclass(frozen=True)
class Plan:
    """A plan as written: its document, and the folder that its paths are relative to."""

    label: str
    folder: Path
    document: Document

    @classmethod
    def read(cls, path: Path) -> "Plan":
        """Return the plan in a file, or raise Refused with every problem and its line."""
        ((label, content),) = contents([path])
        plan = cls(label, path.parent, read_checked(label, content, "plan"))
        if wrong := plan.rules.bad_values() if plan.rules else []:
            raise refusal(wrong)
        return plan

    @property
    def written_plan(self) -> Mapping[str, Any]:
        """Return the document."""
        return dict(self.document.value)

    @property
    def name(self) -> str:
        """Return the name of the scenario."""
        return str(self.written_plan["name"])

    @property
    def cycles(self) -> int:
        """Return the number of cycles of its run."""
        return int((self.written_plan.get("run") or {}).get("cycles", 1))

    @property
    def rules(self) -> Rules | None:
        """Return its rules, None without rules."""
        rules = self.written_plan.get("assert")
        return Rules(self.label, self.document, rules, ("assert",)) if rules else None

    @property
    def snapshot_name(self) -> str:
        """Return the name of its snapshot; for files without one, the name of the plan."""
        snapshot = self.written_plan["snapshot"]
        return snapshot if isinstance(snapshot, str) else str(snapshot.get("name") or self.name)

    def snapshot_files(self) -> list[tuple[str, bytes]]:
        """Return the files of its snapshot; empty for a stored snapshot."""
        snapshot = self.written_plan["snapshot"]
        return [] if isinstance(snapshot, str) else self._contents(snapshot["files"])

    def base(self, kept: SnapshotOf) -> Json:
        """Return the document that it changes."""
        files = self.snapshot_files()
        return snapshot_document(read_bytes(files)) if files else kept(self.snapshot_name)

    def planned(self, base: Mapping[str, Any]) -> "Planned":
        """Return the plan applied to a snapshot's document, or raise Refused with every problem."""
        source = self._objects()
        document = changed(base, _applied(source))
        document["queues"] = copy.deepcopy(document.get("queues") or [])
        if name := self.written_plan.get("conf"):
            ((label, content),) = self._contents([name])
            document["scheduler_conf"] = conf_text(label, content)
        wrong = [*self._queues(document), *self._nodes(document), *self._jobs(document)]
        planned = Planned(self, source, document)
        wrong += [] if wrong else [planned.placed(one) for one in faults(document)]
        wrong += self.rules.unknown_names(document) if self.rules else []
        if wrong:
            raise refusal(wrong)
        return replace(planned, document=followed(base, document))

    def _objects(self) -> Source | None:
        files = self._contents(self.written_plan.get("apply") or [])
        if inline := self.written_plan.get("objects"):
            listed = {"apiVersion": "v1", "kind": "List", "items": inline}
            files.append((f"{self.label}: objects", json.dumps(listed).encode()))
        return Source(read_changes(files)) if files else None

    def _queues(self, document: Json) -> Iterator[Json]:
        """Patch queues, then remove queues, children first; yield problems."""
        patches = self.written_plan.get("queues") or {}
        leaving = queues_edited.children_first(document, (name for name in patches if patches[name] is None))
        for name in (*(name for name in patches if patches[name] is not None), *leaving):
            try:
                if (patch := patches[name]) is None:
                    queues_edited.removed(document, name, subtree=False)
                else:
                    queues_edited.changed(document, name, patch, patches)
            except Refused as refused:
                for one in refused.problems or [_of_queue(refused)]:
                    inside = (one["path"] or "").removeprefix(f"queues.{name}").strip(".").split(".")
                    line = self.document.place(("queues", name, *filter(None, inside))).line + 1
                    yield one | {"document": self.label, "line": line}

    def _nodes(self, document: Json) -> Iterator[Json]:
        """Add, change and remove nodes; yield problems."""
        written_plan = self.written_plan.get("nodes") or {}
        nodes = {node["metadata"]["name"]: node for node in document.get("nodes") or ()}
        known = list(nodes)
        for number, wanted in enumerate(written_plan.get("add") or ()):
            if wanted["like"] not in nodes:
                yield self._unknown(("nodes", "add", number, "like"), "node", wanted["like"], known)
                continue
            prefix = wanted.get("prefix") or wanted["like"]
            for name in numbered_names(prefix, wanted["count"], nodes):
                nodes[name] = node_like(nodes[wanted["like"]], name)
        for name, patch in (written_plan.get("change") or {}).items():
            if name not in nodes:
                yield self._unknown(("nodes", "change", name), "node", name, known)
                continue
            nodes[name] = merge_patch(nodes[name], patch)
        for number, name in enumerate(written_plan.get("remove") or ()):
            if nodes.pop(name, None) is None:
                yield self._unknown(("nodes", "remove", number), "node", name, known)
        document["nodes"] = list(nodes.values())

    def _jobs(self, document: Json) -> Iterator[Json]:
        """Remove jobs with all that belongs to them, also of jobs named twice; yield problems."""
        gone: dict[str, set[Key]] = {}
        for number, name in enumerate((self.written_plan.get("jobs") or {}).get("remove") or ()):
            parts = parts_of(document, name)
            if not parts:
                yield self._unknown(("jobs", "remove", number), "job", name, _job_names(document))
            for kind, keys in parts.items():
                gone.setdefault(kind, set()).update(keys)
        for kind, keys in gone.items():
            document[kind] = [one for one in document[kind] if key_of(kind, one) not in keys]

    def _unknown(self, steps: Steps, what: str, name: str, known: Any) -> Json:
        fix = written_instead(name, known)
        return problem_at(
            self.label, self.document, steps, f"plan.{what}", f"there is no {what} {name!r}", fix
        )

    def _contents(self, names: Sequence[str]) -> list[tuple[str, bytes]]:
        """Return the files of a plan, relative to its folder; a folder stands for all its manifests."""
        paths: list[Path] = []
        for name in names:
            path = self.folder / name
            paths += sorted(path.glob("*.y*ml")) if path.is_dir() else [path]
        return contents(paths)


@dataclass(frozen=True)
class Planned:
    """A plan applied to a snapshot."""

    plan: Plan
    source: Source | None
    document: Json

    def placed(self, one: Mapping[str, Any]) -> Json:
        """Return a problem with the file and line of the plan, or of a file that it names."""
        placed = self.source.placed(one, self.document) if self.source else problem(**one)
        if placed["line"] is None and placed["queue"] in (self.plan.written_plan.get("queues") or {}):
            inside = (placed["field"] or "").removeprefix("spec.").split(".")
            line = self.plan.document.place(("queues", placed["queue"], *inside)).line + 1
            return placed | {"document": self.plan.label, "line": line}
        return placed


def _of_queue(refused: Refused) -> Json:
    return problem(rule="plan.queue", severity="error", message=refused.message)


def _job_names(document: Mapping[str, Any]) -> Iterator[str]:
    for kind in ("jobs", "podgroups"):
        yield from ("/".join(key_of(kind, one)) for one in document.get(kind) or ())


def _applied(source: Source | None) -> Mapping[str, Any]:
    """Return the objects of files in the form of a scenario, without possible secrets."""
    return bare_document(source.reading) if source else {}
