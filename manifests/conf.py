"""What does a scheduler configuration's text say? Form only: what Volcano makes of it, the core knows."""

from collections.abc import Mapping
from typing import Any

from manifests.document import Document, Fault, Span
from manifests.paths import spell, steps_to
from manifests.problem import ReadProblem, Severity, Unreadable
from manifests.stream import read_documents
from manifests.yaml_places import find_in_yaml

CONF_KEY = "volcano-scheduler.conf"
CONF_MAP = "volcano-scheduler-configmap"

_HARMLESS = frozenset(["yaml.duplicate", "json.duplicate"])
"""Volcano reads on and takes the last value."""


def conf_document(text: str) -> Document:
    """Return the document of a configuration's text; Volcano reads the first one only."""
    empty = Document(text, Span(0, 0, 0, 0), {}, find_in_yaml)
    document = next(read_documents(text), empty)
    if document.value is None and not document.faults:
        document.value = {}
    if not isinstance(document.value, dict | None):
        message = "a scheduler configuration is a mapping"
        document.faults.append(
            Fault("conf.type", message, document.whole.line, "begin with `actions:` and `tiers:`")
        )
        document.value = None
    return document


def conf_severity(fault: Fault) -> Severity:
    """Return how bad a fault is in a configuration."""
    return "warning" if fault.rule in _HARMLESS else "error"


def conf_problems(text: str) -> list[ReadProblem]:
    """Return what is wrong with the form of a configuration, with the lines of its text."""
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
        for fault in conf_document(text).faults
    ]


def conf_line(text: str, path: str) -> int:
    """Return the line, the first is 1, of a key named as in ``tiers[0].plugins[2].arguments``."""
    document = conf_document(text)
    return document.place(steps_to(document.value, path)).line + 1


def parse_conf(text: str) -> dict[str, Any]:
    """Return the structure of a configuration.

    Raises
    ------
    Unreadable
        If the text is neither YAML nor JSON, or no mapping.

    """
    if errors := [found for found in conf_problems(text) if found.severity == "error"]:
        raise Unreadable(errors)
    structure: dict[str, Any] = conf_document(text).value
    return structure


def conf_text_in(config_map: Mapping[str, Any]) -> str | None:
    """Return the configuration that a ConfigMap holds, None when it holds none."""
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
            message = f"the ConfigMap holds no text {CONF_KEY}"
            path = f'scheduler_conf.data["{CONF_KEY}"]'
            raise Unreadable([ReadProblem("conf.missing", "error", message, CONF_MAP, None, path, "add it")])
    if isinstance(conf, str):
        conf = parse_conf(conf)
    rest = {key: value for key, value in document.items() if key != "scheduler_conf"}
    return rest if conf is None else rest | {"scheduler_conf": conf}
