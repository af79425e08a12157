"""Lint of files by the rules of pages and API, with line numbers."""

import manifests
from manifests.stream import read_documents
from queuecast.backend import Files, Json
from queuecast.plans import read_changes
from queuecast.problems import Refused, as_problem, refusal
from scheduler_core.lint import conf_problems, review


def conf_findings(text: str, label: str = manifests.CONF_KEY) -> list[Json]:
    """Return all findings about a configuration's text; errors first."""
    of_form = manifests.conf_problems(text)
    found = [as_problem(one, document=label) for one in of_form]
    if any(one.severity == "error" for one in of_form):
        return found
    structure = manifests.parse_conf(text) if text.strip() else None
    of_core = conf_problems(structure)
    paths = [one.path.removeprefix("scheduler_conf") for one in of_core]
    lines = manifests.conf_lines(text, paths) if text.strip() else [None] * len(paths)
    return found + [
        as_problem(one, document=label, line=line) for one, line in zip(of_core, lines, strict=True)
    ]


def conf_file_findings(label: str, content: bytes) -> list[Json]:
    """Return all findings about a file: the configuration's own text, or its ConfigMap."""
    if _is_manifest(content):
        _conf_in(label, content)
        return plan_findings([(label, content)])
    return conf_findings(_decoded(label, content), label)


def conf_text(label: str, content: bytes) -> str:
    """Return the configuration in a file: its own text, or that of the ConfigMap in it."""
    return _conf_in(label, content) if _is_manifest(content) else _decoded(label, content)


def plan_findings(files: Files) -> list[Json]:
    """Return all findings about the plan in files; errors first."""
    return findings_in(read_changes(files))


def findings_in(reading: manifests.Reading) -> list[Json]:
    """Return all findings about a parsed plan; errors first."""
    return [_placed(as_problem(one), reading) for one in review(manifests.resolve(reading.document))]


def _placed(one: Json, reading: manifests.Reading) -> Json:
    label, line = reading.line_of(one["path"] or "") or (None, None)
    return {**one, "document": label, "line": line}


def _is_manifest(content: bytes) -> bool:
    """Return whether a file holds Kubernetes objects instead of a configuration's own text."""
    documents = read_documents(content.decode(errors="replace"))
    return any(isinstance(one.value, dict) and "kind" in one.value for one in documents)


def _conf_in(label: str, content: bytes) -> str:
    reading = read_changes([(label, content)])
    if reading.scheduler_conf_text is None:
        fix = f"name the file with ConfigMap {manifests.CONF_MAP}"
        message = f"there is no {manifests.CONF_KEY} in this file"
        raise refusal(
            [{"rule": "conf.missing", "severity": "error", "message": message, "document": label, "fix": fix}]
        )
    return reading.scheduler_conf_text


def _decoded(label: str, content: bytes) -> str:
    try:
        return content.decode()
    except UnicodeDecodeError:
        raise Refused(f"{label} is not UTF-8 text.") from None
