"""Lint of files by the rules of pages and API, with line numbers."""

import manifests
from queuecast.backend import Files, Json
from queuecast.conf_files import conf_text, is_manifest
from queuecast.plans import read_changes
from queuecast.problems import as_problem
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
    text = conf_text(label, content)
    return plan_findings([(label, content)]) if is_manifest(content) else conf_findings(text, label)


def plan_findings(files: Files) -> list[Json]:
    """Return all findings about the plan in files; errors first."""
    return findings_in(read_changes(files))


def findings_in(reading: manifests.Reading) -> list[Json]:
    """Return all findings about a parsed plan; errors first."""
    return [_placed(as_problem(one), reading) for one in review(manifests.resolve(reading.document))]


def _placed(one: Json, reading: manifests.Reading) -> Json:
    label, line = reading.line_of(one["path"] or "") or (None, None)
    return {**one, "document": label, "line": line}
