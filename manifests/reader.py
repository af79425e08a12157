"""Which scenario do these files make? Every problem at once, nothing guessed, nothing dropped in silence."""

import gc
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from manifests.conf import CONF_KEY, CONF_MAP, conf_document, conf_severity, conf_text_in
from manifests.document import Document, Fault, Steps
from manifests.form import form_faults, type_name
from manifests.kinds import LISTS, full_name, list_of
from manifests.objects import Item, is_conf, items_of, scenario_in
from manifests.paths import spell
from manifests.problem import ReadProblem, Severity
from manifests.reading import Origin, Reading, Source
from manifests.stream import read_documents
from manifests.unpack import NoText, text_of

MAX_TEXT_BYTES = 200_000_000
"""How much text all files of one reading may hold, inflated."""

_ALWAYS = ("nodes", "queues", "podgroups", "pods")
"""Lists that every scenario has, empty or not."""


def read(files: Sequence[tuple[str, bytes]], *, limit: int = MAX_TEXT_BYTES) -> Reading:
    """Return what files hold, given as names and bytes.

    Each is YAML or JSON, plain or gzip, with any number of documents: objects, Lists of them, the scheduler's
    ConfigMap or its bare configuration; or all of it is one scenario.
    """
    with _garbage_collector_off():
        gathering = _Gathering()
        sources = list(gathering.sources(files, limit))
        if any(scenario_in(source.document.value) for source in sources):
            gathering.take_alone(sources)
        else:
            for source in sources:
                gathering.take(source)
        return gathering.finished()


@contextmanager
def _garbage_collector_off() -> Iterator[None]:
    """Millions of new objects without a cycle among them: looking for cycles costs more than reading."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


class _Conf(NamedTuple):
    """A scheduler configuration that was found."""

    origin: Origin
    text: str | None
    structure: Any
    name: str
    """Of its ConfigMap; a bare configuration counts as the scheduler's own."""


class _Gathering:
    """What has been read so far."""

    def __init__(self) -> None:
        self._reading = Reading(document={name: [] for name in _ALWAYS})
        self._unknown: Counter[str] = Counter()
        self._known: dict[tuple[str, str, str], int] = {}
        self._confs: list[_Conf] = []

    def sources(self, files: Sequence[tuple[str, bytes]], limit: int) -> Iterator[Source]:
        """Yield the documents of all files that hold something."""
        for name, content in files:
            try:
                text = text_of(content, limit=limit)
            except NoText as error:
                self._report(error.rule, "error", str(error), name, error.line, "", error.fix)
                continue
            limit -= len(text)
            documents = list(read_documents(text))
            for number, document in enumerate(documents, start=1):
                source = Source(f"{name}#{number}" if len(documents) > 1 else name, document)
                self._report_faults(source, document.faults)
                if document.value is not None:
                    yield source

    def take_alone(self, sources: Sequence[Source]) -> None:
        """Take the scenario among documents; whatever stands beside it is a problem."""
        taken = False
        for source in sources:
            found = scenario_in(source.document.value)
            if found and not taken:
                self._take_scenario(source, *found)
                taken = True
            else:
                message = "a scenario stands alone, but this stands beside it"
                line = source.document.whole.line + 1
                self._report(
                    "form.mixed", "error", message, source.label, line, "", "import one scenario at a time"
                )

    def take(self, source: Source) -> None:
        """Take a document of objects."""
        value = source.document.value
        if is_conf(value):
            text = _own_text(source.document)
            self._confs.append(_Conf(Origin(source, ()), text, value, CONF_MAP))
            return
        for item in items_of(value):
            self._take_item(source, item)

    def finished(self) -> Reading:
        """Return the reading."""
        self._choose_conf()
        document = self._reading.document
        if not self._reading.problems and not any(document.get(name) for name in LISTS):
            left_out = f"; left out: {', '.join(sorted(self._unknown))}" if self._unknown else ""
            message = f"there is nothing here that the scheduler reads{left_out}"
            fix = "export with `kubectl get nodes,queues,podgroups,pods,priorityclasses -A -o yaml`"
            self._report("form.empty", "error", message, "", None, "", fix)
        self._reading.unknown_kinds = dict(sorted(self._unknown.items()))
        return self._reading

    # Objects

    def _take_item(self, source: Source, item: Item) -> None:
        if not isinstance(item.value, dict):
            self._report_faults(source, form_faults(item.value, item.steps, "object", source.document))
        elif not isinstance(item.kind, str) or not isinstance(item.api_version, str):
            self._report_no_kind(source, item)
        elif (
            item.api_version == "v1"
            and item.kind == "ConfigMap"
            and CONF_KEY in (item.value.get("data") or {})
        ):
            self._take_config_map(source, item.steps, item.value)
        elif list_name := list_of(item.api_version, item.kind):
            self._take_object(list_name, item.value, source, item.steps)
        else:
            self._unknown[f"{item.api_version} {item.kind}"] += 1

    def _report_no_kind(self, source: Source, item: Item) -> None:
        missing = "apiVersion" if isinstance(item.kind, str) else "kind"
        place = source.document.place((*item.steps, missing))
        found = item.value.get(missing)
        message = f"this object has no {missing}" if found is None else f"{missing} is {type_name(found)}"
        fix = "write what `kubectl get -o yaml` prints, with apiVersion and kind"
        fault = Fault("form.kind", message, place.line, fix, (*item.steps, missing))
        self._report_faults(source, [fault])

    def _take_object(self, list_name: str, value: Any, source: Source, steps: Steps) -> None:
        kind = LISTS[list_name].name
        faults = list(form_faults(value, steps, kind, source.document))
        if faults:
            self._report_faults(source, faults)
            return
        objects = self._reading.document.setdefault(list_name, [])
        identity = (list_name, *full_name(list_name, value))
        first = self._known.setdefault(identity, len(objects))
        if first < len(objects):
            self._report_second(list_name, first, value, source, steps)
            return
        self._reading.origins[list_name, first] = Origin(source, steps)
        objects.append(value)

    def _report_second(self, list_name: str, first: int, value: Any, source: Source, steps: Steps) -> None:
        origin = self._reading.origins[list_name, first]
        namespace, name = full_name(list_name, value)
        full = f"{namespace}/{name}" if namespace else name
        where = f"{origin.source.label} line {origin.line(())}"
        line = source.document.place(steps).line + 1
        path = spell((list_name, first, "metadata", "name"))
        if self._reading.document[list_name][first] == value:
            message = f"{LISTS[list_name].name} {full} stands here again, as in {where}; it counts once"
            self._report("form.repeated", "remark", message, source.label, line, path, "")
        else:
            message = f"{LISTS[list_name].name} {full} stands here a second time and differs from {where}"
            self._report("form.duplicate", "error", message, source.label, line, path, "keep one of the two")

    # A scenario

    def _take_scenario(self, source: Source, scenario: dict[str, Any], way: Steps) -> None:
        """Take the lists of a scenario in its own order, everything else as it is."""
        self._reading.is_scenario = True
        document = self._reading.document = {}
        for key, value in scenario.items():
            if key == "scheduler_conf":
                self._take_conf(source, (*way, key), value)
            elif key in LISTS:
                document[key] = []
                self._take_list(key, value, source, (*way, key))
            else:
                document[key] = value
            self._reading.origins[(key,)] = Origin(source, (*way, key))
        for name in _ALWAYS:
            document.setdefault(name, [])

    def _take_list(self, name: str, value: Any, source: Source, steps: Steps) -> None:
        if isinstance(value, dict) and "items" in value:
            value, steps = value["items"], (*steps, "items")
        if not isinstance(value, list | None):
            line = source.document.place(steps).line
            message = f"{name} is {type_name(value)}"
            self._report_faults(
                source, [Fault("form.type", message, line, "make it a list of objects", steps)]
            )
            return
        for index, inner in enumerate(value or ()):
            way = (*steps, index)
            kind = inner.get("kind") if isinstance(inner, dict) else None
            if kind is not None and kind != LISTS[name].name:
                line = source.document.place((*way, "kind")).line
                fault = Fault(
                    "form.kind", f"a {kind} stands among {name}", line, "move it to its list", (*way, "kind")
                )
                self._report_faults(source, [fault])
            else:
                self._take_object(name, inner, source, way)

    # The scheduler configuration

    def _take_conf(self, source: Source, steps: Steps, value: Any) -> None:
        if isinstance(value, str):
            self._take_conf_text(source, steps, value, CONF_MAP)
        elif isinstance(value, dict) and value.get("kind") == "ConfigMap":
            self._take_config_map(source, steps, value)
        elif isinstance(value, dict):
            self._confs.append(_Conf(Origin(source, steps), None, value, CONF_MAP))
        elif value is not None:
            line = source.document.place(steps).line
            message = f"scheduler_conf is {type_name(value)}"
            self._report_faults(
                source, [Fault("form.type", message, line, "make it a mapping or its text", steps)]
            )

    def _take_config_map(self, source: Source, steps: Steps, config_map: dict[str, Any]) -> None:
        metadata = config_map.get("metadata")
        name = metadata.get("name") if isinstance(metadata, dict) else None
        way = (*steps, "data", CONF_KEY)
        text = conf_text_in(config_map)
        if text is None:
            line = source.document.place(way).line
            message = f"the ConfigMap {name} holds no text {CONF_KEY}"
            self._report_faults(
                source, [Fault("conf.missing", message, line, f"write `{CONF_KEY}: |` below data", way)]
            )
        else:
            self._take_conf_text(source, way, text, str(name))

    def _take_conf_text(self, source: Source, steps: Steps, text: str, name: str) -> None:
        inner = conf_document(text)
        self._confs.append(_Conf(Origin(source, steps, inner), text, inner.value, name))

    def _choose_conf(self) -> None:
        """Take the scheduler's own configuration; several are a problem, another's is better than none."""
        own = [conf for conf in self._confs if conf.name == CONF_MAP]
        candidates = own or self._confs
        for conf in candidates[1:]:
            first = candidates[0].origin
            where = f"{first.source.label} line {first.line(())}"
            message = f"a second scheduler configuration; the first is in {where}"
            self._report_conf("conf.several", "error", message, conf.origin, "keep one")
        if candidates and not own:
            message = f"the configuration is taken from ConfigMap {candidates[0].name}, not {CONF_MAP}"
            self._report_conf("conf.name", "remark", message, candidates[0].origin, "")
        if candidates:
            self._use_conf(candidates[0])

    def _use_conf(self, conf: _Conf) -> None:
        for fault in conf.origin.inner.faults if conf.origin.inner else ():
            line = conf.origin.inner_line(fault.line)
            path = spell(("scheduler_conf", *fault.steps))
            label = conf.origin.source.label
            self._report(fault.rule, conf_severity(fault), fault.message, label, line, path, fault.fix)
        if conf.structure is not None:
            self._reading.document["scheduler_conf"] = conf.structure
            self._reading.scheduler_conf_text = conf.text
            self._reading.origins[("scheduler_conf",)] = conf.origin

    # What is wrong

    def _report_conf(self, rule: str, severity: Severity, message: str, origin: Origin, fix: str) -> None:
        self._report(rule, severity, message, origin.source.label, origin.line(()), "scheduler_conf", fix)

    def _report_faults(self, source: Source, faults: Iterator[Fault] | list[Fault]) -> None:
        for fault in faults:
            path = spell(fault.steps)
            self._report(fault.rule, "error", fault.message, source.label, fault.line + 1, path, fault.fix)

    def _report(
        self,
        rule: str,
        severity: Severity,
        message: str,
        document: str,
        line: int | None,
        path: str,
        fix: str,
    ) -> None:
        self._reading.problems.append(ReadProblem(rule, severity, message, document, line, path, fix))


def _own_text(document: Document) -> str:
    """Return the text of a document without its marker, as it was written, comments above it too."""
    start, end = document.whole.start, document.whole.end
    is_marked = document.text.startswith("---", start)
    return document.text[start + 3 if is_marked else 0 : end].lstrip("\r\n")
