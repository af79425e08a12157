"""Reports of a plan's effects for people, CI and pull requests."""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any
from xml.etree import ElementTree

from queuecast.problems import Rejected, line_of
from queuecast.shown import Table, amounts, brief, percent

Report = Mapping[str, Any]

LOOPS = "Eviction loops"
NOTES = "Left out and assumed"
ACCEPTED = "accepted by the API server and Volcano's webhook"
_MARKS = {"kept": "ok  ", "broken": "FAIL", "skipped": "skip"}
_OUTCOMES = {"kept": "holds", "broken": "is broken", "skipped": "is not applicable"}
_SIGNS = {"kept": "✅", "broken": "❌", "skipped": "⏭️"}
_MOST = 20
_NOT_IN_XML = re.compile("[\\x00-\\x08\\x0b\\x0c\\x0e-\\x1f\\ufffe\\uffff]")


def text(report: Report) -> str:
    """Return sections of tables and lists, the rules last."""
    parts = [
        f"{title}:\n{content}"
        for title, content in ((one.title, _as_text(one)) for one in _sections(report))
        if content
    ]
    lines = []
    for rule in _rules(report):
        lines.append(f"{_MARKS[rule['status']]}  {rule['rule']}")
        if rule["why"]:
            lines.append(f"      {rule['why']}")
    return "\n\n".join([*parts, "\n".join([*lines, summary(report)])]) + "\n"


def markdown(report: Report) -> str:
    """Return tables for a pull request: the rules first, then the effects of the change."""
    rows = [
        f"| {_SIGNS[rule['status']]} | {_cell(rule['rule'])} | {_cell(rule['why'] or '')} |"
        for rule in _rules(report)
    ]
    lines = [f"### Queuecast: {summary(report)}", ""]
    lines += ["| | rule | why |", "|---|---|---|", *rows] if rows else []
    for section in _sections(report):
        lines += ["", f"#### {section.title}", "", *_as_markdown(section)]
    return "\n".join(lines).rstrip("\n") + "\n"


def junit(report: Report) -> str:
    """Return JUnit XML: a test for each rule and one for the change itself, and the report as output."""
    cases = [
        {"rule": ACCEPTED, "status": "broken" if errors else "kept", "why": "\n".join(map(line_of, errors))}
        for errors in [[one for one in report["problems"] if one["severity"] == "error"]]
    ]
    cases += _rules(report)
    counts = {status: sum(case["status"] == status for case in cases) for status in ("broken", "skipped")}
    suite = ElementTree.Element(
        "testsuite", name="queuecast", tests=str(len(cases)), failures=str(counts["broken"]),
        skipped=str(counts["skipped"]), errors="0",
    )  # fmt: skip
    for case in cases:
        test = ElementTree.SubElement(suite, "testcase", classname="queuecast.check", name=case["rule"])
        if case["status"] != "kept":
            kind = "failure" if case["status"] == "broken" else "skipped"
            ElementTree.SubElement(test, kind, message=case["why"])
    paragraphs = "\n\n".join(f"{one.title}:\n{_as_text(one)}" for one in _sections(report))
    if paragraphs:
        ElementTree.SubElement(suite, "system-out").text = paragraphs
    return _xml(suite)


def as_json(report: Report) -> str:
    """Return the report itself."""
    return json.dumps(report, ensure_ascii=False, indent=2) + "\n"


FORMS: Mapping[str, Callable[[Report], str]] = {
    "text": text,
    "json": as_json,
    "junit": junit,
    "markdown": markdown,
}


def refused(error: Rejected, form: str) -> str:
    """Return the report of a check that failed; as text there is none."""
    if form == "json":
        return json.dumps(error.body, ensure_ascii=False, indent=2) + "\n"
    if form == "markdown":
        lines = [f"- {_cell(line_of(one))}" for one in error.problems]
        return (
            "\n".join([f"### Queuecast: not checked. {_cell(error.message)}", "", *lines]).rstrip("\n") + "\n"
        )
    if form == "junit":
        suite = ElementTree.Element("testsuite", name="queuecast", tests="1", failures="0", errors="1")
        test = ElementTree.SubElement(
            suite, "testcase", classname="queuecast.check", name="the check can be made"
        )
        ElementTree.SubElement(test, "error", message=error.message).text = str(error)
        return _xml(suite)
    return ""


def summary(report: Report) -> str:
    """Return in a few words whether the change is acceptable."""
    rules = report["rules"]
    broken = sum(rule["status"] == "broken" for rule in rules)
    errors = sum(one["severity"] == "error" for one in report["problems"])
    paragraphs = [f"{errors} {'problem' if errors == 1 else 'problems'} of the change"] if errors else []
    skipped = sum(rule["status"] == "skipped" for rule in rules)
    if len(rules) == 1:
        paragraphs.append(f"the rule {_OUTCOMES[rules[0]['status']]}")
    elif broken:
        paragraphs.append(f"{broken} of {len(rules)} rules broken")
    elif rules:
        paragraphs.append(
            f"all {len(rules)} rules hold" + (f", {skipped} of them not applicable" if skipped else "")
        )
    return ", ".join(paragraphs) or "no rules"


class _Section:
    """A part of a report: a table, or sentences."""

    def __init__(self, title: str, content: Table | Sequence[str]) -> None:
        self.title, self.content = title, content


def _sections(report: Report) -> Iterator[_Section]:
    for title, content in (
        ("Problems", [line_of(one) for one in report["problems"] if one["severity"] != "remark"]),
        ("Changes", _changes(report)),
        ("Steps that the webhook accepts", _steps(report)),
        ("Queues whose figures change", _queues(report)),
        ("Evictions", _victims(report)),
        ("Jobs that wait", _waiting(report)),
        (LOOPS, report["loops"]),
        (NOTES, report["notes"]),
    ):
        if content.rows if isinstance(content, Table) else content:
            yield _Section(title, content)


def _changes(report: Report) -> Table:
    rows = [
        (one["kind"], one["name"], one["field"], *brief(one["before"], one["after"]))
        for one in report["changes"]
    ]
    return Table(("KIND", "NAME", "FIELD", "BEFORE", "AFTER"), rows)


def _steps(report: Report) -> list[str]:
    half = " (for now; a later step completes it)"
    steps = [f"{one['verb']} queue {one['queue']}{half if one['halfway'] else ''}" for one in report["steps"]]
    steps += [f"delete queue {name}" for name in report["deletions"]]
    steps += [
        f"{'open' if state == 'Open' else 'close'} queue {name}"
        for name, state in sorted(report["states"].items())
    ]
    return [f"{number}. {step}" for number, step in enumerate(steps, 1)]


def _queues(report: Report) -> Table:
    rows = [
        (
            one["queue"],
            *(amounts(one[part][side]) for part in ("deserved", "allocated") for side in ("before", "after")),
            *(percent(one["share"][side]) for side in ("before", "after")),
        )
        for one in report["queues"]
    ]
    heads = (f"{part} {side}" for part in ("DESERVED", "ALLOCATED", "SHARE") for side in ("BEFORE", "AFTER"))
    return Table(("QUEUE", *heads), rows)


def _victims(report: Report) -> Table:
    message = {"both": "with and without the change", "after": "by the change", "before": "no longer"}
    rows = [(one["pod"], one["queue"], one["for_pod"], message[one["evicted"]]) for one in report["victims"]]
    return Table(("POD", "QUEUE", "FOR", "EVICTED"), rows)


def _waiting(report: Report) -> Table:
    rows = [
        (one["job"], one["queue"], one["pending_before"], one["pending_after"], one["message"])
        for one in report["waiting"]
    ]
    return Table(("JOB", "QUEUE", "PODS WAITING BEFORE", "AFTER", "WHY"), rows)


def _rules(report: Report) -> list[dict[str, Any]]:
    return [dict(rule) for rule in report["rules"]]


def _as_text(section: _Section) -> str:
    if isinstance(section.content, Table):
        return str(section.content)
    return "\n".join(f"  - {sentence}" for sentence in section.content)


def _as_markdown(section: _Section) -> list[str]:
    content = section.content
    if not isinstance(content, Table):
        return [f"- {sentence}" for sentence in content]
    cells = [[_cell(cell) for cell in row] for row in content.cells()]
    rows = [f"| {' | '.join(row)} |" for row in cells[1 : _MOST + 1]]
    more = ["", f"and {len(cells) - 1 - _MOST} more"] if len(cells) - 1 > _MOST else []
    heads = [head.lower() for head in content.columns]
    return [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|", *rows, *more]


def _cell(words: str) -> str:
    return words.replace("|", "\\|").replace("\n", " ")


def _xml(suite: ElementTree.Element) -> str:
    """Return XML, with a replacement for the characters that it cannot contain."""
    ElementTree.indent(suite)
    body = _NOT_IN_XML.sub("\ufffd", ElementTree.tostring(suite, "unicode"))
    return f'<?xml version="1.0" encoding="utf-8"?>\n{body}\n'
