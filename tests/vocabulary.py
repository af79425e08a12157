"""The words that readers see: in pages, messages, API descriptions, scripts and documents."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

BANNED: dict[str, str] = {
    r"told|tells?\b(?! (?:\w+ )?apart)": "says, reports, shows",
    r"\bwhom\b": "name the pod, the job or the queue",
    r"\blet(?:s|ting)? (?:\w+ ){0,3}go\b": "may be evicted, evictable",
    r"\blet(?:s|ting)? (?:\w+ ){0,2}in\b": "enqueues, enqueued",
    r"\b(?:may|must|had to|has to|have to|shall) go\b": "is evicted, must be evicted",
    r"\bin vain\b": "without effect, did not help",
    r"\bmend(?:s|ed|ing)?\b": "fix",
    r"\b(?:comes?|came) off\b": "outcome, result",
    r"\b(?:stands?|stood)\b": "is",
    r"\b(?:takes?|took|taken|taking) (?:\w+ ){0,2}away\b": "remove",
    r"\b(?:takes?|took|taken|taking) (?:\w+ ){0,2}back\b": "revert, undo, reclaim",
    r"\bput(?:s|ting)? (?:\w+ )?back\b": "revert",
    r"\bask(?:s|ed|ing)? for\b": "requests, requires",
    r"\b(?:is|are|was|were|be|not|none) asked\b": "runs, is called",
    r"\bpromis(?:e|es|ed)\b": "reserved, pipelined, guaranteed",
    r"\bhand(?:s|ed)? (?:\w+ )?out\b": "evictable, returned",
    r"\blook(?:s|ed|ing)? at\b": "considered, checked",
    r"\b(?:hangs?|lies?|lay) (?:below|above|under)\b": "child of, parent of",
    r"\b(?:evict(?:s|ed)?|agree on|concerns) nobody\b": "no pod, no job",
    r"\bnobody (?:is|was|may|had|has) (?:asked|evicted|a victim)\b": "no pod, no plugin",
    r"\b(?:makes?|made) of (?:it|them|each|every|one|a|the)\b": "result, outcome",
    r"\bnothing to say\b": "no problems found",
    r"\bquicker\b": "has changed meanwhile",
    r"\bon (?:its|their|the) way\b(?! to)": "running, in progress",
    r"\bheld (?:back|against)\b": "kept, compared with",
    r"\bhad a say\b": "took part, decided",
    r"\bis no (?!longer\b|more\b|need\b)(?<!here is no )": "is not a",
    r"\bcarr(?:y|ies|ied) over\b": "rebase",
    r"(?<!/)\b1 (?:jobs|pods|queues|nodes|runs|rules|changes|problems)\b": "the singular",
}
"""Phrases that readers stumbled over, and their replacements."""

BANNED_NAMES: dict[str, str] = {
    "told|tell|tells": "reported, recorded, shown; the name of what it is",
    "vain": "discarded, without effect",
    "whom": "the pod, the job or the queue",
    "initiator": "preemptor, reclaimer",
    "yardstick": "total",
    "lever|levers": "remedy",
    "picture|pictures": "view",
    "sight|sights": "candidates",
    "roster|composition": "known pods, totals",
    "mirror": "snapshot of the nodes",
    "curable|cured": "resolvable",
    "roomy|worth": "candidate nodes",
    "moving": "releasing or pipelined",
    "mended|mend": "fix",
}
"""The same in names of the core: words between underscores and capitals."""

NAME_PATTERNS = {re.compile(rf"(?:^|_)(?:{words})(?:_|$)"): better for words, better in BANNED_NAMES.items()}
PATTERNS = {re.compile(pattern, re.IGNORECASE): better for pattern, better in BANNED.items()}
_ATTRIBUTE = re.compile(r'(?:title|aria-label|placeholder|alt|label|word|with what)="([^"]*)"')
_TAG = re.compile(r"\{#.*?#\}|\{[%{].*?[%}]\}|<[^>]*>", re.DOTALL)
_CODE = re.compile(r"```.*?```|`[^`]*`|\]\([^)]*\)", re.DOTALL)
_SCRIPT_TEXT = re.compile(r"\"([^\"\\]*)\"|'([^'\\]*)'|`([^`]*)`")

Found = tuple[int, str]
"""A line number and its text."""


def in_template(text: str) -> Iterator[Found]:
    """Yield the texts of a template and of its attributes."""
    for number, line in enumerate(text.splitlines(), 1):
        yield number, _TAG.sub(" ", line)
        for shown in _ATTRIBUTE.findall(line):
            yield number, shown


def in_document(text: str) -> Iterator[Found]:
    """Yield the lines of a Markdown page without its code."""
    blank = _CODE.sub(lambda code: re.sub(r"[^\n]", " ", code[0]), text)
    yield from enumerate(blank.splitlines(), 1)


def in_script(text: str) -> Iterator[Found]:
    """Yield the texts of a script."""
    for number, line in enumerate(text.splitlines(), 1):
        for groups in _SCRIPT_TEXT.findall(line):
            yield number, next(filter(None, groups), "")


def in_module(text: str, *, docstrings: bool) -> Iterator[Found]:
    """Yield the sentences among the strings of a Python module; with `docstrings` also those."""
    nodes = list(ast.walk(ast.parse(text)))
    silent = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    inside: set[int] = set()
    for node in nodes:
        if isinstance(node, ast.JoinedStr):
            inside.update(map(id, node.values))
            parts = (part.value if isinstance(part, ast.Constant) else " … " for part in node.values)
            yield node.lineno, "".join(map(str, parts))
        elif docstrings and isinstance(node, ast.ClassDef | ast.FunctionDef) and _is_shown(node):
            yield node.lineno, ast.get_docstring(node) or ""
    for node in nodes:
        is_text = isinstance(node, ast.Constant) and isinstance(node.value, str)
        if is_text and id(node) not in inside | silent and " " in node.value:
            yield node.lineno, node.value


def names_in(text: str) -> Iterator[Found]:
    """Yield the names that a Python module gives: to classes, functions, arguments, variables, attributes."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            yield node.lineno, node.name
        elif isinstance(node, ast.arg):
            yield node.lineno, node.arg
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.attr


def banned_words_in(name: str) -> Iterator[str]:
    """Yield the replacement of each banned word in a name."""
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()
    for pattern, better in NAME_PATTERNS.items():
        if pattern.search(words):
            yield better


def _is_shown(node: ast.ClassDef | ast.FunctionDef) -> bool:
    """Return whether the schema or the command line shows the docstring."""
    takes = [] if isinstance(node, ast.ClassDef) else [one.arg for one in node.args.args]
    return isinstance(node, ast.ClassDef) or "request" in takes[1:2] or "backend" in takes[:1]


def banned_phrases(text: str) -> Iterator[tuple[str, str]]:
    """Yield each banned phrase of a text with its replacement."""
    for pattern, better in PATTERNS.items():
        for found in pattern.finditer(text):
            yield found[0], better
