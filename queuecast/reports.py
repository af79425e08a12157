"""How are verdicts told to a person, to a CI system, and in a pull request?"""

from collections.abc import Callable, Mapping, Sequence
from xml.etree import ElementTree

from queuecast.rules import Verdict

LOOPS = "Eviction loops"
NOTES = "Left out and assumed"
Said = Mapping[str, Sequence[str]]


def text(verdicts: Sequence[Verdict], said: Said) -> str:
    """Return a line for each rule, after what the simulation says besides, by title.

    >>> rules = [Verdict("max_evictions: 2"), Verdict("job_runs: a/b", "a/b waits")]
    >>> print(text(rules, {LOOPS: [], NOTES: ["Not modelled: hypernodes."]}), end="")
    Left out and assumed:
      - Not modelled: hypernodes.
    <BLANKLINE>
    ok    max_evictions: 2
    FAIL  job_runs: a/b
          a/b waits
    1 of 2 rules broken
    """
    lines = [line for title, told in _titled(said) for line in (f"{title}:", *_items(told, "  - "), "")]
    for verdict in verdicts:
        lines.append(f"{'ok  ' if verdict.holds else 'FAIL'}  {verdict.rule}")
        if not verdict.holds:
            lines.append(f"      {verdict.why}")
    return "\n".join([*lines, _sum(verdicts)]) + "\n"


def markdown(verdicts: Sequence[Verdict], said: Said) -> str:
    """Return a table for a pull request, and what the simulation says besides."""
    below = [line for title, told in _titled(said) for line in ("", f"#### {title}", "", *_items(told, "- "))]
    rows = [
        f"| {'✅' if verdict.holds else '❌'} | {_cell(verdict.rule)} | {_cell(verdict.why)} |"
        for verdict in verdicts
    ]
    table = ["| | rule | why |", "|---|---|---|", *rows]
    return "\n".join([f"### Queuecast: {_sum(verdicts)}", "", *table, *below]) + "\n"


def junit(verdicts: Sequence[Verdict], said: Said) -> str:
    """Return JUnit XML; what the simulation says besides is its output."""
    broken = sum(not verdict.holds for verdict in verdicts)
    suite = ElementTree.Element("testsuite", name="queuecast", tests=str(len(verdicts)), failures=str(broken))
    for verdict in verdicts:
        case = ElementTree.SubElement(suite, "testcase", classname="queuecast.check", name=verdict.rule)
        if not verdict.holds:
            ElementTree.SubElement(case, "failure", message=verdict.why)
    lines = [line for title, told in _titled(said) for line in (f"{title}:", *told)]
    if lines:
        ElementTree.SubElement(suite, "system-out").text = "\n".join(lines)
    ElementTree.indent(suite)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ElementTree.tostring(suite, "unicode") + "\n"


FORMS: Mapping[str, Callable[[Sequence[Verdict], Said], str]] = {
    "text": text,
    "junit": junit,
    "markdown": markdown,
}


def _titled(said: Said) -> list[tuple[str, Sequence[str]]]:
    """Return the titles under which something is said."""
    return [(title, told) for title, told in said.items() if told]


def _items(told: Sequence[str], mark: str) -> list[str]:
    return [f"{mark}{sentence}" for sentence in told]


def _sum(verdicts: Sequence[Verdict]) -> str:
    broken = sum(not verdict.holds for verdict in verdicts)
    return f"{broken} of {len(verdicts)} rules broken" if broken else f"all {len(verdicts)} rules kept"


def _cell(words: str) -> str:
    return words.replace("|", "\\|").replace("\n", " ")
