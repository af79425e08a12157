"""How are verdicts told to a person, to a CI system, and in a pull request?"""

from collections.abc import Callable, Mapping, Sequence
from xml.etree import ElementTree

from queuecast.rules import Verdict

NOTES = "Left out and assumed"


def text(verdicts: Sequence[Verdict], notes: Sequence[str] = ()) -> str:
    """Return a line for each rule, and for each note of the simulation.

    >>> rules = [Verdict("max_evictions: 2"), Verdict("job_runs: a/b", "a/b waits")]
    >>> print(text(rules, ["Not modelled: hypernodes."]), end="")
    Left out and assumed:
      - Not modelled: hypernodes.
    <BLANKLINE>
    ok    max_evictions: 2
    FAIL  job_runs: a/b
          a/b waits
    1 of 2 rules broken
    """
    lines = [f"{NOTES}:", *(f"  - {note}" for note in notes), ""] if notes else []
    for verdict in verdicts:
        lines.append(f"{'ok  ' if verdict.holds else 'FAIL'}  {verdict.rule}")
        if not verdict.holds:
            lines.append(f"      {verdict.why}")
    return "\n".join([*lines, _sum(verdicts)]) + "\n"


def markdown(verdicts: Sequence[Verdict], notes: Sequence[str] = ()) -> str:
    """Return a table for a pull request, and what the simulation leaves out and assumes."""
    said = ["", f"#### {NOTES}", "", *(f"- {note}" for note in notes)] if notes else []
    rows = [
        f"| {'✅' if verdict.holds else '❌'} | {_cell(verdict.rule)} | {_cell(verdict.why)} |"
        for verdict in verdicts
    ]
    table = ["| | rule | why |", "|---|---|---|", *rows]
    return "\n".join([f"### Queuecast: {_sum(verdicts)}", "", *table, *said]) + "\n"


def junit(verdicts: Sequence[Verdict], notes: Sequence[str] = ()) -> str:
    """Return JUnit XML; what the simulation leaves out and assumes is its output."""
    broken = sum(not verdict.holds for verdict in verdicts)
    suite = ElementTree.Element("testsuite", name="queuecast", tests=str(len(verdicts)), failures=str(broken))
    for verdict in verdicts:
        case = ElementTree.SubElement(suite, "testcase", classname="queuecast.check", name=verdict.rule)
        if not verdict.holds:
            ElementTree.SubElement(case, "failure", message=verdict.why)
    if notes:
        ElementTree.SubElement(suite, "system-out").text = "\n".join([f"{NOTES}:", *notes])
    ElementTree.indent(suite)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ElementTree.tostring(suite, "unicode") + "\n"


FORMS: Mapping[str, Callable[[Sequence[Verdict], Sequence[str]], str]] = {
    "text": text,
    "junit": junit,
    "markdown": markdown,
}


def _sum(verdicts: Sequence[Verdict]) -> str:
    broken = sum(not verdict.holds for verdict in verdicts)
    return f"{broken} of {len(verdicts)} rules broken" if broken else f"all {len(verdicts)} rules kept"


def _cell(words: str) -> str:
    return words.replace("|", "\\|").replace("\n", " ")
