"""Edits of queues in a block pasted from a spreadsheet.

The first line names the columns: ``Queue``, ``Weight``, ``Deserved`` or ``Deserved cpu``; without it the
columns are a queue's name and then those of `COLUMNS`. An empty cell leaves its field, a dash unsets it.
"""

import csv
import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from planning.rows import Problem

MOST_ROWS = 5000
COLUMNS = ("weight", "priority", "reclaimable", "guarantee", "deserved", "capability")
"""The columns of a block without a heading, after the name; amounts are of the shown resource."""

_NAMES = ("queue", "name")
_PLAIN = ("weight", "priority", "reclaimable", "parent", "state")
_AMOUNTS = {"guarantee": "guarantee.resource", "deserved": "deserved", "capability": "capability"}
_UNSET = ("-", "–", "—", "not set", "null")
_FLAGS = {"yes": "true", "no": "false", "true": "true", "false": "false"}


@dataclass
class Pasted:
    """The edits in a block: texts by queue and field; `places` has the position of each, for problems.

    A field is named as its path below the queue: ``weight``, ``guarantee.resource.cpu``.
    """

    texts: dict[str, dict[str, str]] = field(default_factory=dict)
    places: dict[str, str] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)

    def place(self, path: str) -> str:
        """Return the position of a problem's path (``row 3, column Weight``), else an empty text."""
        return self.places.get(path) or self.places.get(path.split(".")[1] if "." in path else "", "")


def pasted(text: str, *, resource: str, known: Sequence[str]) -> Pasted:
    r"""Return the edits of the queues `known` in a block, with every problem by row and column.

    >>> text = "Queue\tWeight\tDeserved cpu\nads\t4\t\nml\t-\t2x"
    >>> pasted(text, resource="cpu", known=["ads", "ml"]).texts
    {'ads': {'weight': '4'}, 'ml': {'weight': '', 'deserved.cpu': '2x'}}
    """
    rows = [(number, cells) for number, cells in enumerate(_cells(text), start=1) if any(cells)]
    found = Pasted()
    if not rows:
        return found
    if len(rows) > MOST_ROWS:
        found.problems.append(_problem(f"{len(rows):,} rows", f"paste at most {MOST_ROWS:,} rows at a time"))
        return found
    headed = rows[0][1][0].lower() in _NAMES
    heads = rows[0][1] if headed else ["queue", *COLUMNS[: max(len(cells) for _, cells in rows) - 1]]
    fields = [_field(head, resource) for head in heads]
    found.problems += [
        _problem(f"row {rows[0][0]}, column {head or number}: queues have no such field", _HEADS)
        for number, (head, name) in enumerate(zip(heads, fields, strict=True), start=1)
        if name is None
    ]
    for number, cells in rows[headed:]:
        found.problems += _read(found, number, cells, (heads, fields), known)
    return found


_HEADS = f"use Queue, {', '.join(name.capitalize() for name in COLUMNS)}, or Deserved cpu for one resource"


def _read(
    found: Pasted,
    number: int,
    cells: Sequence[str],
    columns: tuple[Sequence[str], Sequence[str | None]],
    known: Sequence[str],
) -> Iterator[Problem]:
    """Read one row into `found`; yield its problems."""
    heads, fields = columns
    name = cells[0]
    if len(cells) > len(heads):
        message = f"row {number} has {len(cells)} cells, the first row has {len(heads)}"
        yield _problem(message, "give every column a heading")
    if name not in known:
        message = f"row {number}, column {heads[0]}: there is no queue {name!r}"
        yield _problem(message, "add the queue first, or correct its name")
        return
    if name in found.texts:
        yield _problem(f"row {number}: queue {name} was in an earlier row", "keep one row for each queue")
        return
    texts = found.texts[name] = {}
    found.places[name] = f"row {number}"
    for head, where, text in zip(heads[1:], fields[1:], cells[1:], strict=False):
        if where is not None and text:
            texts[where] = "" if text.lower() in _UNSET else _FLAGS.get(text.lower(), text)
            found.places[f"queues.{name}.{where}"] = f"row {number}, column {head}"


def _cells(text: str) -> list[list[str]]:
    delimiter = "\t" if "\t" in text else ","
    rows = csv.reader(io.StringIO(text.strip("\r\n")), delimiter=delimiter)
    return [[cell.strip() for cell in row] or [""] for row in rows]


def _field(head: str, resource: str) -> str | None:
    """Return the path of a heading: ``Deserved cpu`` and ``deserved.cpu`` are the same."""
    spelt = head.strip().replace("guarantee.resource", "guarantee")
    word, *rest = re.split(r"[\s:.]+", spelt, maxsplit=1)
    word = word.lower()
    if word in _AMOUNTS:
        return f"{_AMOUNTS[word]}.{rest[0] if rest else resource}"
    if rest:
        return None
    return "name" if word in _NAMES else word if word in _PLAIN else None


def _problem(message: str, fix: str) -> Problem:
    return Problem("paste.row", "error", message[:1].upper() + message[1:], fix=fix)
