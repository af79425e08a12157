"""Parsing of a scheduler configuration's text; the core checks its meaning."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from manifests.document import Document, Fault, Span, Steps
from manifests.paths import spell, steps_to
from manifests.problem import ReadProblem, Severity, Unreadable
from manifests.stream import read_documents
from manifests.yaml_places import find_in_yaml

CONF_KEY = "volcano-scheduler.conf"
CONF_MAP = "volcano-scheduler-configmap"
NAMESPACE = "volcano-system"

MAX_CHARACTERS = 2**18
MAX_TIERS = 50
MAX_PLUGINS = 100
MAX_KEYS = 1000
"""The size limit: a real configuration has some twenty plugins in two or three tiers."""

_HARMLESS = frozenset(["yaml.duplicate", "json.duplicate"])
"""Volcano continues and takes the last value."""


def conf_manifest(text: str) -> dict[str, Any]:
    """Return the ConfigMap in which the scheduler reads a configuration."""
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": CONF_MAP, "namespace": NAMESPACE},
        "data": {CONF_KEY: text},
    }


def conf_document(text: str) -> Document:
    """Return the document of a configuration's text; Volcano reads the first one only."""
    empty = Document(text, Span(0, 0, 0, 0), {}, find_in_yaml)
    if len(text) > MAX_CHARACTERS:
        empty.value = None
        empty.faults.append(_too_much(f"{len(text)} characters", MAX_CHARACTERS, 0))
        return empty
    document = next(read_documents(text), empty)
    if document.value is None and not document.faults:
        document.value = {}
    if not isinstance(document.value, dict | None):
        message = "a scheduler configuration must be a mapping"
        document.faults.append(
            Fault("conf.type", message, document.whole.line, "begin with `actions:` and `tiers:`")
        )
        document.value = None
    if isinstance(document.value, dict) and {"apiVersion", "kind"} <= document.value.keys():
        kind = document.value["kind"]
        message = f"this is a manifest of a {kind}, not a scheduler configuration"
        fix = f"write the text under data of its key {CONF_KEY}"
        document.faults.append(Fault("conf.manifest", message, document.whole.line, fix))
        document.value = None
    for amount, limit, steps in _amounts(document.value or {}):
        if amount > limit:
            what = f"{amount} {steps[-1] if steps else 'keys'}"
            document.faults.append(_too_much(what, limit, document.place(steps).line, steps))
            document.value = None
            break
    return document


def _amounts(structure: Mapping[str, Any]) -> Iterator[tuple[int, int, Steps]]:
    """Yield the sizes of a configuration's parts, their limits and their paths."""
    tiers = structure.get("tiers")
    tiers = tiers if isinstance(tiers, list) else []
    yield len(tiers), MAX_TIERS, ("tiers",)
    plugins = 0
    for number, tier in enumerate(tiers):
        entries = tier.get("plugins") if isinstance(tier, dict) else None
        plugins += len(entries) if isinstance(entries, list) else 0
        yield plugins, MAX_PLUGINS, ("tiers", number, "plugins")
    yield _keys(structure), MAX_KEYS, ()


def _keys(value: Any) -> int:
    if isinstance(value, dict):
        return len(value) + sum(map(_keys, value.values()))
    return len(value) + sum(map(_keys, value)) if isinstance(value, list) else 0


def _too_much(what: str, limit: int, line: int, steps: Steps = ()) -> Fault:
    message = f"{what}; a configuration may have {limit}"
    return Fault("conf.size", message, line, "remove what Volcano does not read", steps)


def conf_severity(fault: Fault) -> Severity:
    """Return the severity of an error in a configuration."""
    return "warning" if fault.rule in _HARMLESS else "error"


def conf_problems(text: str) -> list[ReadProblem]:
    """Return the errors in the form of a configuration, with the lines of its text."""
    return _problems(conf_document(text))


def _problems(document: Document) -> list[ReadProblem]:
    return [
        ReadProblem(
            rule=fault.rule,
            severity=conf_severity(fault),
            message=fault.message,
            document=CONF_KEY,
            line=fault.line + 1,
            path=spell(("scheduler_conf", *fault.steps)),
            fix=fault.fix,
        )
        for fault in document.faults
    ]


def conf_lines(text: str, paths: Iterable[str]) -> list[int]:
    """Return the lines, from 1, of keys named as in ``tiers[0].plugins[2].arguments``."""
    document = conf_document(text)
    return [document.place(steps_to(document.value, path)).line + 1 for path in paths]


def parse_conf(text: str) -> dict[str, Any]:
    """Return the structure of a configuration.

    Raises
    ------
    Unreadable
        If the text is neither YAML nor JSON, or no mapping.

    """
    document = conf_document(text)
    if errors := [found for found in _problems(document) if found.severity == "error"]:
        raise Unreadable(errors)
    structure: dict[str, Any] = document.value
    return structure


def conf_text_in(config_map: Mapping[str, Any]) -> str | None:
    """Return the configuration in a ConfigMap, None without one."""
    data = config_map.get("data")
    text = data.get(CONF_KEY) if isinstance(data, dict) else None
    return text if isinstance(text, str) else None


def resolve(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return a scenario whose `scheduler_conf`, if it has one, is a structure.

    Raises
    ------
    Unreadable
        If the configuration's text cannot be read, or the ConfigMap holds none.

    """
    conf = document.get("scheduler_conf")
    if isinstance(conf, dict) and conf.get("kind") == "ConfigMap":
        conf = conf_text_in(conf)
        if conf is None:
            message = f"the ConfigMap has no string {CONF_KEY}"
            path = f'scheduler_conf.data["{CONF_KEY}"]'
            raise Unreadable([ReadProblem("conf.missing", "error", message, CONF_MAP, None, path, "add it")])
    if isinstance(conf, str):
        conf = parse_conf(conf)
    rest = {key: value for key, value in document.items() if key != "scheduler_conf"}
    return rest if conf is None else rest | {"scheduler_conf": conf}
