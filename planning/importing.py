"""Reading of a cluster's files, with all problems. Nothing is saved here."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import timedelta
from typing import IO, Any

import manifests
from planning.documents import items, of_live_cluster
from planning.forecasts.clock import instant, spelled
from planning.queues import SPEC_FIELDS
from planning.rows import Problem
from scheduler_core.lint import REFUSED, review

EXPORT = manifests.EXPORT
Files = Sequence[tuple[str, bytes]]
"""Names and contents, as uploaded."""
OpenFiles = Sequence[tuple[str, IO[bytes]]]
"""Names and open files, as uploaded."""
Progress = Callable[[float, str], None]
"""Receives the progress of reading, from 0 to 1, and the current step."""

_FRESH = timedelta(minutes=10)
"""Objects that are not older count as exported when they are imported."""

_READ = 0.6
"""The share of reading in the progress; the rest is checking."""

MAX_TEXT_BYTES = manifests.MAX_TEXT_BYTES
"""The most text, decompressed, of one import."""

_VOLUMES = "Volume binding, zones and limits rule out no node."
_DEVICES = "Dynamically allocated devices rule out no node and count against no queue."
_READ_BY_THE_SCHEDULER = {
    ("topology.volcano.sh", "HyperNode"): "Nodes are not grouped by network topology.",
    ("nodeinfo.volcano.sh", "Numatopology"): "CPUs are not assigned to NUMA nodes.",
    ("shard.volcano.sh", "NodeShard"): "This scheduler may use every node.",
    ("", "PersistentVolumeClaim"): _VOLUMES,
    ("", "PersistentVolume"): _VOLUMES,
    ("storage.k8s.io", "StorageClass"): _VOLUMES,
    ("storage.k8s.io", "CSINode"): _VOLUMES,
    ("storage.k8s.io", "CSIStorageCapacity"): _VOLUMES,
    ("resource.k8s.io", "ResourceClaim"): _DEVICES,
    ("resource.k8s.io", "ResourceSlice"): _DEVICES,
    ("resource.k8s.io", "DeviceClass"): _DEVICES,
}
"""By group and kind, what a result does not take into account."""
_UNREAD = "the scheduler does not read this kind."
_SPREADS = "the scheduler reads this kind only to spread pods over nodes (nodeorder), which is left out."
_CREATES_JOBS = f"{_UNREAD} The jobs that it creates later are in a forecast only if its trace contains them."
_REMARKS = {
    ("batch.volcano.sh", "CronJob"): _CREATES_JOBS,
    ("batch", "CronJob"): _CREATES_JOBS,
    ("flow.volcano.sh", "JobFlow"): _CREATES_JOBS,
    ("", "LimitRange"): f"{_UNREAD} Pods that are created later lack the requests that it would set.",
    ("", "Service"): _SPREADS,
    ("", "ReplicationController"): _SPREADS,
    ("apps", "ReplicaSet"): _SPREADS,
    ("apps", "StatefulSet"): _SPREADS,
}


@dataclass(frozen=True)
class Imported:
    """The contents of the files, before anything is saved."""

    document: Mapping[str, Any]
    """The objects as one scenario document, without the configuration."""
    scheduler_conf: str
    """volcano-scheduler.conf as it was written; empty: Volcano's default."""
    counts: Mapping[str, int]
    """Objects by list, the empty lists too."""
    unknown_kinds: Mapping[str, int]
    """Objects left out because the scheduler does not read them, by apiVersion and kind."""
    problems: Sequence[Problem]

    @property
    def has_errors(self) -> bool:
        """Whether errors prevent saving."""
        return has_errors(self.problems)

    @property
    def has_conf(self) -> bool:
        """Whether a scheduler configuration was read."""
        return bool(self.scheduler_conf)


def has_errors(problems: Sequence[Problem]) -> bool:
    """Return whether one of the problems is an error."""
    return any(problem.is_error for problem in problems)


def holds_more(files: OpenFiles, limit: int) -> bool:
    """Return whether files hold more bytes of text than `limit`, decompressed if they are gzip."""
    left = limit
    for _, file in files:
        left -= manifests.text_bytes(file, at_most=left)
        if left < 0:
            return True
    return False


def read_cluster(
    files: Files,
    *,
    now: str,
    keep: Collection[str] = (),
    progress: Progress = lambda done, doing: None,
) -> Imported:
    """Read the files of one cluster, given as names and bytes, without parts that may contain secrets.

    `now` (RFC 3339) is the time of the import, and the clock of a live export unless its objects show that
    they were exported earlier; a scenario has its own clock. `keep` names annotations
    that are kept in addition to Volcano's own.
    """
    reading = manifests.read(files, progress=lambda done, name: progress(_READ * done, f"reading {name}"))
    progress(_READ, "checking the objects")
    if not reading.is_scenario:
        reading.document = of_live_cluster(reading.document)
    document = {key: value for key, value in reading.document.items() if key != "scheduler_conf"}
    clock, told = (None, []) if reading.is_scenario else _clock(document, now)
    if clock is not None:
        document.setdefault("now", clock)
    bare = manifests.stripped(document, keep)
    return Imported(
        document=bare,
        scheduler_conf=_conf_text(reading),
        counts=reading.counts,
        unknown_kinds=reading.unknown_kinds,
        problems=[
            *(Problem(**asdict(found)) for found in reading.problems),
            *_plan_problems(reading),
            *told,
            *_left_out(reading.unknown_kinds),
            *_stripped(document, bare),
        ],
    )


def _clock(document: Mapping[str, Any], now: str) -> tuple[str, list[Problem]]:
    """Return the time of a live export, and a remark if that is not the time of the import."""
    exported, imported = manifests.export_time(document), instant(now)
    moment = instant(exported)
    if moment is None or imported is None or imported - moment < _FRESH:
        return now, []
    age = spelled((imported - moment).total_seconds())
    message = f"The objects were exported {age} before the import, as their newest heartbeats and pods show."
    fix = f"the clock of the snapshot is {exported}; export the cluster again for a forecast from now on"
    return exported, [Problem("clock.exported", "remark", message, path="now", actual=exported, fix=fix)]


def read_objects(text: str, *, keep: Collection[str] = ()) -> Imported:
    """Read objects of any kind from a text; the scenario that they are added to checks their contents."""
    reading = manifests.read([("documents", text.encode())])
    has_conf = "scheduler_conf" in reading.document
    found = [
        Problem(**asdict(one)) for one in reading.problems if not (has_conf and one.rule == "form.empty")
    ]
    document = {key: value for key, value in reading.document.items() if key != "scheduler_conf"}
    return Imported(
        document=manifests.stripped(document, keep),
        scheduler_conf=_conf_text(reading),
        counts=reading.counts,
        unknown_kinds=reading.unknown_kinds,
        problems=[*found, *(replace(one, severity="error") for one in _left_out(reading.unknown_kinds))],
    )


def _plan_problems(reading: manifests.Reading) -> Iterator[Problem]:
    """Yield the core's problems of the scenario, and texts that do not fit a row, with lines.

    Objects that Volcano would refuse are imported anyway, so that they can be fixed.
    """
    refused = set()
    for found in review(reading.document):
        may_come_in = found.path.startswith("scheduler_conf") or found.rule in REFUSED
        if found.severity == "error" and not may_come_in:
            refused.add(found.path)
        severity = "warning" if found.severity == "error" and may_come_in else found.severity
        yield _placed(Problem(**asdict(found) | {"severity": severity}), reading)
    for index, queue in enumerate(reading.document.get("queues", ())):
        for problem in _row_problems(queue, f"queues[{index}]"):
            if problem.path not in refused:
                yield _placed(problem, reading)


def _row_problems(manifest: Mapping[str, Any], path: str) -> Iterator[Problem]:
    """Yield which texts of an imported Queue exceed their columns; the core checks the rest."""
    for part, field, longest in _COLUMN_WIDTHS:
        value = (manifest.get(part) or {}).get(field)
        at = {"path": f"{path}.{part}.{field}", "queue": manifest["metadata"]["name"], "field": field}
        if value is not None and not isinstance(value, str):
            message, fix = f"{field} must be a string.", "Write it in quotes."
            yield Problem("form.type", "error", message, **at, actual=value, fix=fix)
        elif value is not None and len(value) > longest:
            message, fix = f"{field} has {len(value)} characters.", f"Use at most {longest} characters."
            yield Problem("too_long", "error", message, **at, actual=f"{value[:60]}…", fix=fix)


_COLUMN_WIDTHS = (
    ("metadata", "name", 253),
    ("metadata", "creationTimestamp", 40),
    *[("spec", field.name, field.longest) for field in SPEC_FIELDS if field.longest],
    ("status", "state", 30),
)
"""The longest texts that the columns hold; a Kubernetes name is never longer."""


def _stripped(document: Mapping[str, Any], bare: Mapping[str, Any]) -> Iterator[Problem]:
    """Report how many objects lost parts, and which annotations a queue lost."""
    if bare is document:
        return
    for name, things in bare.items():
        if things is document[name]:
            continue
        is_replay = name == "replay"
        before, after = (held["events"] if is_replay else items(held) for held in (document[name], things))
        pairs = list(zip(before, after, strict=True))
        count = sum(one is not other for one, other in pairs)
        kind = "events of the replay" if is_replay else name
        yield Problem("secret.left_out", "remark", f"{kind}: {_LEFT_OUT.format(count=count)}", actual=count)
        if name == "queues" and (lost := _lost_annotations(pairs)):
            message = f"Annotations of queues were left out: {', '.join(lost)}."
            fix = "QUEUECAST_KEEP_ANNOTATIONS keeps them, so that an exported queue has them, too"
            yield Problem("secret.queue_annotations", "remark", message, path="queues", fix=fix)


_LEFT_OUT = (
    "of {count} of them, parts that the scheduler does not read were removed before anything was stored."
)


def _lost_annotations(pairs: Sequence[tuple[Mapping[str, Any], Mapping[str, Any]]]) -> list[str]:
    names = {
        name
        for before, after in pairs
        for name in _annotations(before).keys() - _annotations(after).keys()
        if name != _LAST_APPLIED
    }
    return sorted(names)


_LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"


def _annotations(thing: Mapping[str, Any]) -> Mapping[str, Any]:
    return thing["metadata"].get("annotations") or {}


def _placed(problem: Problem, reading: manifests.Reading) -> Problem:
    label, line = reading.line_of(problem.path or "") or (None, None)
    return replace(problem, document=label, line=line)


def _conf_text(reading: manifests.Reading) -> str:
    if reading.scheduler_conf_text is not None:
        return reading.scheduler_conf_text
    structure = reading.document.get("scheduler_conf")
    return "" if structure is None else manifests.dump(structure)


def _left_out(kinds: Mapping[str, int]) -> Iterator[Problem]:
    """Report the objects that an import leaves out, given by apiVersion and kind."""
    for name, count in kinds.items():
        version, _, kind = name.rpartition(" ")
        key = version.rpartition("/")[0], kind
        if key in _READ_BY_THE_SCHEDULER:
            meaning = f"the scheduler reads this kind, but it is not modelled. {_READ_BY_THE_SCHEDULER[key]}"
            rule, severity = "kind.not_modelled", "warning"
        else:
            rule, meaning, severity = "kind.left_out", _REMARKS.get(key, _UNREAD), "remark"
        yield Problem(rule, severity, f"{name}: {count} ignored; {meaning}", actual=count)
