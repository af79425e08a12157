"""Reading of files into a scenario, with every problem; nothing is guessed or dropped silently."""

import gc
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import chain, islice
from typing import Any

from manifests.candidates import Candidates, holds_conf, is_conf
from manifests.conf import conf_severity
from manifests.document import Document, Steps
from manifests.findings import Findings
from manifests.form import Complaint, form_complaints, type_name
from manifests.kinds import EXPORT, LISTS, full_name, list_of
from manifests.objects import Item, items_of, scenario_in
from manifests.paths import spell
from manifests.reading import Origin, Reading, Source
from manifests.scheduler_image import SchedulerImages
from manifests.stream import read_documents
from manifests.unpack import NoText, decoded, unpacked

Progress = Callable[[float, str], None]
"""Receives the read fraction of all files, from 0 to 1, and the name of the current one."""

MAX_TEXT_BYTES = 200_000_000
"""The most text of all files of one reading, decompressed."""
MAX_DOCUMENTS = 500_000
"""The most documents; a List counts as one."""

_ALWAYS = ("nodes", "queues", "podgroups", "pods")
"""Lists that every scenario has, empty or not."""


def read(
    files: Sequence[tuple[str, bytes]],
    *,
    limit: int = MAX_TEXT_BYTES,
    progress: Progress = lambda done, name: None,
) -> Reading:
    """Return the contents of files, given as names and bytes.

    Each is YAML or JSON, plain or gzip, with any number of documents: objects, Lists of them, the scheduler's
    ConfigMap or its bare configuration; or all of it is one scenario.
    """
    with _garbage_collector_off():
        findings = Findings()
        gathering = _Gathering(findings)
        sources = list(islice(_sources(files, limit, findings, progress), MAX_DOCUMENTS + 1))
        if any(scenario_in(source.document.value) for source in sources):
            gathering.take_alone(sources)
        else:
            gathering.take_all(sources)
        return gathering.finished()


@contextmanager
def _garbage_collector_off() -> Iterator[None]:
    """Garbage collection is paused: millions of new objects without a cycle would be traversed in vain."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _sources(
    files: Sequence[tuple[str, bytes]], limit: int, findings: Findings, progress: Progress
) -> Iterator[Source]:
    """Yield the documents of all non-empty files; unreadable ones become findings."""
    for (name, content), tell in zip(files, _tellers(files, progress), strict=True):
        findings.expect(name)
        tell(0.0)
        try:
            data = unpacked(content, limit=limit)
            text = decoded(data)
        except NoText as error:
            findings.add(error.rule, "error", str(error), document=name, line=error.line, fix=error.fix)
            continue
        limit -= len(data)
        for label, document in _labelled(name, read_documents(text, tell)):
            source = Source(label, document)
            findings.expect(label)
            for fault in document.faults:
                findings.add_fault(
                    source, fault, conf_severity(fault) if is_conf(document.value) else "error"
                )
            if document.value is not None:
                yield source


def _tellers(files: Sequence[tuple[str, bytes]], progress: Progress) -> Iterator[Callable[[float], None]]:
    """Yield for each file a function that reports its progress as a part of all files."""
    before, total = 0, sum(len(content) for _, content in files) or 1
    for name, content in files:
        yield partial(_tell, progress, name, before / total, len(content) / total)
        before += len(content)


def _tell(progress: Progress, name: str, before: float, share: float, done: float) -> None:
    progress(before + share * done, name)


def _labelled(name: str, documents: Iterator[Document]) -> Iterator[tuple[str, Document]]:
    """Yield non-empty documents with their names: the file's own if there is only one."""
    numbered = (
        (number, document)
        for number, document in enumerate(documents, 1)
        if document.value is not None or document.faults
    )
    first_two = list(islice(numbered, 2))
    if len(first_two) == 1:
        yield name, first_two[0][1]
        return
    for number, document in chain(first_two, numbered):
        yield f"{name}#{number}", document


class _Gathering:
    """The objects read so far."""

    def __init__(self, findings: Findings) -> None:
        self._findings = findings
        self._reading = Reading(document={name: [] for name in _ALWAYS})
        self._confs = Candidates(findings)
        self._images = SchedulerImages(findings)
        self._unknown: Counter[str] = Counter()
        self._ignored: tuple[Source, Steps] | None = None
        self._known: dict[tuple[str, str, str], int] = {}

    def finished(self) -> Reading:
        """Return the reading."""
        self._confs.choose(self._reading)
        self._images.choose(self._reading)
        self._reading.unknown_kinds = dict(sorted(self._unknown.items()))
        self._reading.problems = self._findings.ordered()
        if not self._reading.problems and not any(self._reading.counts.values()):
            left_out = f"; ignored: {', '.join(self._reading.unknown_kinds)}" if self._unknown else ""
            message = f"the input contains nothing that the scheduler reads{left_out}"
            fix = f"export with `{EXPORT}`"
            if self._ignored is None:
                self._findings.add("form.empty", "error", message, fix=fix)
            else:
                self._findings.add_at(*self._ignored, "form.empty", "error", message, fix=fix)
            self._reading.problems = self._findings.ordered()
        return self._reading

    # Objects

    def take_all(self, sources: Sequence[Source]) -> None:
        """Add documents of objects."""
        for source in sources[:MAX_DOCUMENTS]:
            if is_conf(source.document.value):
                self._confs.take_document(source)
                continue
            for item in items_of(source.document.value):
                self._take_item(source, item)
        for source in sources[MAX_DOCUMENTS:]:
            message = f"more than {MAX_DOCUMENTS} documents; the rest is ignored"
            self._findings.add_at(
                source, (), "form.many", "error", message, fix="put the objects into a List"
            )

    def _take_item(self, source: Source, item: Item) -> None:
        if not isinstance(item.value, dict):
            self._findings.add_complaints(source, form_complaints(item.value, item.steps, "object"))
        elif not isinstance(item.kind, str) or not isinstance(item.api_version, str):
            self._findings.add_complaints(source, [_complaint_of_kind(item)])
        elif (item.api_version, item.kind) == ("v1", "ConfigMap") and holds_conf(item.value):
            self._confs.take_config_map(source, item.steps, item.value)
        elif list_name := list_of(item.api_version, item.kind):
            self._images.take(source, item.steps, item.kind, item.value)
            self._take_object(list_name, item.value, source, item.steps)
        elif not self._images.take(source, item.steps, item.kind, item.value):
            self._unknown[f"{item.api_version} {item.kind}"] += 1
            self._ignored = self._ignored or (source, (*item.steps, "kind"))

    def _take_object(self, list_name: str, value: Any, source: Source, steps: Steps) -> None:
        if complaints := list(
            form_complaints(value, steps, LISTS[list_name].name, imagined=self._reading.is_scenario)
        ):
            self._findings.add_complaints(source, complaints)
            return
        objects = self._reading.document.setdefault(list_name, [])
        identity = (list_name, *full_name(list_name, value))
        first = self._known.setdefault(identity, len(objects))
        if first < len(objects):
            self._add_second(list_name, first, value, source, steps)
            return
        self._reading.origins[list_name, first] = Origin(source, steps)
        objects.append(value)

    def _add_second(self, list_name: str, first: int, value: Any, source: Source, steps: Steps) -> None:
        origin = self._reading.origins[list_name, first]
        what = f"{LISTS[list_name].name} {'/'.join(filter(None, full_name(list_name, value)))}"
        where = (
            origin.source.label
            if self._findings.are_many
            else f"{origin.source.label} line {origin.line(())}"
        )
        path = spell((list_name, first, "metadata", "name"))
        if self._reading.document[list_name][first] == value:
            message = f"{what} is defined again, identical to {where}; it counts once"
            self._findings.add_at(source, steps, "form.repeated", "remark", message, path=path)
        else:
            message = f"{what} is defined a second time and differs from {where}"
            fix = "keep one of them"
            self._findings.add_at(source, steps, "form.duplicate", "error", message, path=path, fix=fix)

    # A scenario

    def take_alone(self, sources: Sequence[Source]) -> None:
        """Add the scenario among documents; anything beside it is a problem."""
        for source in sources:
            found = scenario_in(source.document.value)
            if found and not self._reading.is_scenario:
                self._take_scenario(source, *found)
            else:
                message = "a scenario must be imported alone, but other objects come with it"
                fix = "import one scenario at a time"
                self._findings.add_at(source, (), "form.mixed", "error", message, fix=fix)

    def _take_scenario(self, source: Source, scenario: dict[str, Any], way: Steps) -> None:
        """Add the lists of a scenario in order, everything else unchanged."""
        self._reading.is_scenario = True
        document = self._reading.document = {}
        for key, value in scenario.items():
            if key == "scheduler_conf":
                self._confs.take(source, (*way, key), value)
                continue
            document[key] = value
            self._reading.origins[(key,)] = Origin(source, (*way, key))
            if key in LISTS:
                document[key] = []
                self._take_list(key, value, source, (*way, key))
        for name in _ALWAYS:
            document.setdefault(name, [])

    def _take_list(self, name: str, value: Any, source: Source, steps: Steps) -> None:
        if isinstance(value, dict) and "items" in value:
            value, steps = value["items"], (*steps, "items")
        if not isinstance(value, list | None):
            message, fix = f"{name} is {type_name(value)}", "make it a list of objects"
            self._findings.add_at(source, steps, "form.type", "error", message, fix=fix)
            return
        for index, inner in enumerate(value or ()):
            way = (*steps, index)
            kind = inner.get("kind") if isinstance(inner, dict) else None
            if kind is None or kind == LISTS[name].name:
                self._take_object(name, inner, source, way)
            else:
                message = f"{name} contains a {kind}"
                self._findings.add_at(
                    source, (*way, "kind"), "form.kind", "error", message, fix="move it to the right list"
                )


def _complaint_of_kind(item: Item) -> Complaint:
    missing = "apiVersion" if isinstance(item.kind, str) else "kind"
    found = item.value.get(missing)
    message = f"this object has no {missing}" if found is None else f"{missing} is {type_name(found)}"
    fix = "use the output of `kubectl get -o yaml` or `helm template`, with apiVersion and kind"
    return Complaint("form.kind", message, fix, (*item.steps, missing))
