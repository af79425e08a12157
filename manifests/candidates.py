"""Selection of the scheduler configuration, if files hold one, several or none."""

from typing import Any, NamedTuple

from manifests.conf import CONF_KEY, CONF_MAP, conf_document, conf_severity, conf_text_in
from manifests.document import Document, Steps
from manifests.findings import Findings
from manifests.form import type_name
from manifests.paths import spell
from manifests.reading import Origin, Reading, Source


class _Conf(NamedTuple):
    """A configuration in the files."""

    origin: Origin
    text: str | None
    structure: dict[str, Any] | None
    name: str
    """The ConfigMap's name and namespace; a bare configuration counts as the scheduler's own."""


class Candidates:
    """The configurations found so far."""

    def __init__(self, findings: Findings) -> None:
        self._findings = findings
        self._confs: list[_Conf] = []

    def take(self, source: Source, steps: Steps, value: Any) -> None:
        """Take a configuration as a scenario holds it: text, ConfigMap or structure."""
        if isinstance(value, str):
            self._take_text(source, steps, value, CONF_MAP)
        elif isinstance(value, dict) and value.get("kind") == "ConfigMap":
            self.take_config_map(source, steps, value)
        elif isinstance(value, dict):
            self._confs.append(_Conf(Origin(source, steps), None, value, CONF_MAP))
        elif value is not None:
            message = f"scheduler_conf is {type_name(value)}"
            fix = "use a mapping, or the text of one"
            self._findings.add_at(source, steps, "form.type", "error", message, fix=fix)

    def take_document(self, source: Source) -> None:
        """Add a document that is a bare configuration."""
        document = source.document
        self._confs.append(_Conf(Origin(source, ()), _own_text(document), document.value, CONF_MAP))

    def take_config_map(self, source: Source, steps: Steps, config_map: dict[str, Any]) -> None:
        """Add the configuration of a ConfigMap, whatever its name."""
        metadata = config_map.get("metadata")
        name = metadata.get("name") if isinstance(metadata, dict) else None
        way = (*steps, "data", CONF_KEY)
        text = conf_text_in(config_map)
        if text is None:
            message = f"the ConfigMap {name} has no string {CONF_KEY}"
            fix = f"add `{CONF_KEY}: |` below data"
            self._findings.add_at(source, way, "conf.missing", "error", message, fix=fix)
        else:
            self._take_text(source, way, text, str(name))

    def _take_text(self, source: Source, steps: Steps, text: str, name: str) -> None:
        inner = conf_document(text)
        self._confs.append(_Conf(Origin(source, steps, inner), text, inner.value, name))

    def choose(self, reading: Reading) -> None:
        """Write the scheduler's own configuration into a reading, otherwise another one."""
        own = [conf for conf in self._confs if conf.name == CONF_MAP]
        candidates = own or self._confs
        if not candidates:
            return
        chosen = candidates[0]
        where = f"{chosen.origin.source.label} line {chosen.origin.line(())}"
        for conf in candidates[1:]:
            message = f"a second scheduler configuration; the first is in {where}"
            self._add("conf.several", "error", message, conf.origin, fix="keep one")
        if not own:
            message = f"the configuration is taken from ConfigMap {chosen.name}, not {CONF_MAP}"
            self._add("conf.name", "remark", message, chosen.origin)
        self._add_faults(chosen)
        if chosen.structure is not None:
            reading.document["scheduler_conf"] = chosen.structure
            reading.scheduler_conf_text = chosen.text
            reading.origins[("scheduler_conf",)] = chosen.origin

    def _add(self, rule: str, severity: Any, message: str, origin: Origin, fix: str = "") -> None:
        source, path = origin.source, "scheduler_conf"
        self._findings.add_at(source, origin.steps, rule, severity, message, fix=fix, path=path)

    def _add_faults(self, conf: _Conf) -> None:
        for fault in conf.origin.inner.faults if conf.origin.inner else ():
            self._findings.add(
                fault.rule,
                conf_severity(fault),
                fault.message,
                document=conf.origin.source.label,
                line=conf.origin.inner_line(fault.line),
                path=spell(("scheduler_conf", *fault.steps)),
                fix=fault.fix,
            )


def holds_conf(config_map: dict[str, Any]) -> bool:
    """Return whether a ConfigMap is meant to hold a scheduler configuration."""
    data = config_map.get("data")
    return isinstance(data, dict) and CONF_KEY in data


def is_conf(value: Any) -> bool:
    """Return whether a document is a bare configuration."""
    return isinstance(value, dict) and "kind" not in value and ("tiers" in value or "actions" in value)


def _own_text(document: Document) -> str:
    """Return the text of a document without its marker, as written, with the comments above it."""
    start, end = document.whole.start, document.whole.end
    is_marked = document.text.startswith("---", start)
    return document.text[start + 3 if is_marked else 0 : end].lstrip("\r\n")
