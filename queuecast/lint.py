"""What would Volcano refuse of files, or accept to their harm? The rules of pages and API, with lines."""

from dataclasses import asdict

import manifests
from queuecast.desk import Files, Json
from queuecast.plans import read_bytes
from scheduler_core.lint import conf_problems, review


def conf_findings(text: str) -> list[Json]:
    """Return all that there is to say about a configuration's text; errors first."""
    of_form = manifests.conf_problems(text)
    found = [asdict(one) for one in of_form]
    if any(one.severity == "error" for one in of_form):
        return found
    structure = manifests.parse_conf(text) if text.strip() else None
    of_core = conf_problems(structure)
    paths = [one.path.removeprefix("scheduler_conf") for one in of_core]
    lines = manifests.conf_lines(text, paths) if text.strip() else [None] * len(paths)
    for one, line in zip(of_core, lines, strict=True):
        found.append({**asdict(one), "document": manifests.CONF_KEY, "line": line})
    return found


def plan_findings(files: Files) -> list[Json]:
    """Return all that there is to say about the plan that files hold; errors first."""
    return findings_in(read_bytes(files))


def findings_in(reading: manifests.Reading) -> list[Json]:
    """Return all that there is to say about a plan that was read; errors first."""
    found = review(manifests.resolve(reading.document))
    return [_placed(asdict(one), reading) for one in found]


def _placed(one: Json, reading: manifests.Reading) -> Json:
    label, line = reading.line_of(one["path"]) or (None, None)
    return {**one, "document": label, "line": line}
