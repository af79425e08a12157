"""Text replacements that change one entry of a YAML text."""

import json
import re
from typing import Any, NamedTuple

from manifests.document import Step, Steps
from manifests.dump import dump
from manifests.patch import pointer
from manifests.yaml_tree import Node, compose

_REST_OF_LINE = re.compile(r"[ \t]*(#[^\n]*?)?(\r?\n|\Z)")
_COLON = re.compile(r"[ \t]*:")
_STEP = 2
"""Indentation of a new mapping."""


class NoEdit(ValueError):
    """The text cannot be changed locally: it has an anchor, a merge key, a shared line."""


class Cut(NamedTuple):
    """The replacement of a part of the text."""

    start: int
    end: int
    text: str


class Lines(NamedTuple):
    """The lines of an entry of a list, as written, and the column of their dash."""

    text: str
    column: int

    def at(self, column: int) -> str:
        """Return them with another indentation; a comment cannot be left of the first column."""
        further = column - self.column
        if further >= 0:
            return re.sub(r"(?m)^(?=[^\r\n])", " " * further, self.text)
        return re.sub(rf"(?m)^ {{1,{-further}}}", "", self.text)


class TextEdit:
    """The edits of one text."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._root = compose(text)
        self._newline = "\r\n" if "\r\n" in text else "\n"

    def node(self, steps: Steps) -> Node:
        """Return the value at a path."""
        node = self._root
        for step in steps:
            node = node and node.entries[self._position(node, step, steps)][1]
        if node is None:
            raise NoEdit(f"{pointer(*steps)} is not set in the text")
        return node

    def without(self, steps: Steps) -> list[Cut]:
        """Remove an entry; the last one leaves an empty collection."""
        holder = self.node(steps[:-1])
        number = self._position(holder, steps[-1], steps)
        if len(holder.entries) == 1 and steps[:-1]:
            return self.with_value(steps[:-1], [] if holder.kind == "list" else {})
        start, end = self._extent(holder, number)
        is_last = number == len(holder.entries) - 1
        following = end if is_last else self._extent(holder, number + 1)[0]
        if not holder.is_block:
            return [Cut(self._extent(holder, number - 1)[1] if is_last and number else start, following, "")]
        if self._begins_line(start):
            return [Cut(self._line_start(start), self._line_end(end), "")]
        if is_last or "#" in self._text[end:following]:
            raise NoEdit(f"{pointer(*steps)} is on the same line as its parent")
        return [Cut(start, following, "")]

    def with_entry(self, steps: Steps, value: Any, lines: Lines | None = None) -> list[Cut]:
        """Add an entry before an index, a key after all others; as `lines` if given."""
        step = steps[-1]
        if self._root is None:
            return [self._insertion(len(self._text), self._block({step: value}, 0))]
        holder = self.node(steps[:-1])
        if not holder.entries:
            grown = [value] if isinstance(step, int) else {step: value}
            return self.with_value(steps[:-1], grown, lines)
        number = step if isinstance(step, int) else len(holder.entries)
        if not holder.is_block:
            return [self._in_flow(holder, step, number, value)]
        block = self._entry_text(holder, step, value, lines)
        if number:
            return [self._insertion(self._line_end(self._extent(holder, number - 1)[1]), block)]
        start, _ = self._extent(holder, 0)
        if not self._begins_line(start):
            raise NoEdit(f"{pointer(*steps)} is on the same line as its parent")
        return [Cut(self._line_start(start), self._line_start(start), block)]

    def with_value(self, steps: Steps, value: Any, lines: Lines | None = None) -> list[Cut]:
        """Replace a value."""
        holder, old = self.node(steps[:-1]), self.node(steps)
        if old.kind == "shared":
            raise NoEdit(f"{pointer(*steps)} has an anchor, repeats one, or has a tag")
        is_large = isinstance(value, dict | list) and bool(value)
        if not holder.is_block or (is_large and old.style == "flow" and old.entries):
            return [Cut(old.start, old.end, self._spaced(old.start, _flow(value)))]
        key = holder.entries[self._position(holder, steps[-1], steps)][0]
        if key is None:
            if is_large or old.is_block:
                raise NoEdit(f"{pointer(*steps)} is an element of a list: remove it and add another one")
            return [Cut(old.start, old.end, self._spaced(old.start, _inline(value, old)))]
        colon = self._behind_colon(key)
        block = lines.at(holder.column) if lines else self._block_value(value, holder.column)
        if old.is_block:
            cut = Cut(self._line_start(old.start), self._line_end(old.end), block if is_large else "")
            if not self._begins_line(old.start):
                raise NoEdit(f"{pointer(*steps)} is on the same line as its key")
            return [cut] if is_large else [cut, Cut(colon, colon, " " + _inline(value, old))]
        if is_large:
            return [Cut(colon, old.end, ""), self._insertion(self._line_end(old.end), block)]
        return [Cut(old.start, old.end, self._spaced(old.start, _inline(value, old)))]

    def lines_of(self, steps: Steps) -> Lines | None:
        """Return the lines of an element of a list if they are its own, otherwise None."""
        holder = self.node(steps[:-1])
        if holder.kind != "list" or not holder.is_block:
            return None
        start, end = self._extent(holder, self._position(holder, steps[-1], steps))
        if not self._begins_line(start):
            return None
        lines = self._text[self._line_start(start) : self._line_end(end)]
        return Lines(lines if lines.endswith("\n") else lines + self._newline, holder.column)

    # Places

    def _position(self, holder: Node, step: Step, steps: Steps) -> int:
        number = None if holder.kind in ("shared", "scalar") else holder.position(step)
        if number is None:
            raise NoEdit(f"{pointer(*steps)} is set by an alias, not here")
        return number

    def _extent(self, holder: Node, number: int) -> tuple[int, int]:
        """Return where an entry begins, with its dash, and where its value ends."""
        key, value = holder.entries[number]
        end = max(value.end, key.end if key else 0)
        if key or not holder.is_block:
            return (key or value).start, end
        if number == 0:
            return holder.start, end
        dash = re.compile(rf"^ {{{holder.column}}}-(?=[ \t\r\n]|\Z)", re.MULTILINE)
        found = [*dash.finditer(self._text, holder.entries[number - 1][1].end, value.start)]
        if not found:
            raise NoEdit("the dash of an element cannot be found")
        return found[-1].end() - 1, end

    def _begins_line(self, index: int) -> bool:
        return not self._text[self._line_start(index) : index].strip(" ")

    def _line_start(self, index: int) -> int:
        return self._text.rfind("\n", 0, index) + 1

    def _line_end(self, index: int) -> int:
        """Return the index after the line on which a value ends."""
        rest = _REST_OF_LINE.match(self._text, index)
        if rest is None:
            raise NoEdit("something follows the value on its line")
        return rest.end()

    def _behind_colon(self, key: Node) -> int:
        colon = _COLON.match(self._text, key.end)
        if colon is None:
            raise NoEdit(f"no colon follows the key {key.value}")
        return colon.end()

    # Words

    def _insertion(self, index: int, block: str) -> Cut:
        """Put whole lines at the beginning of a line, or after a last line without a line end."""
        if index and self._text[index - 1] != "\n":
            block = self._newline + block.removesuffix(self._newline)
        return Cut(index, index, block)

    def _in_flow(self, holder: Node, step: Step, number: int, value: Any) -> Cut:
        entry = _flow(value) if isinstance(step, int) else f"{_flow(step)}: {_flow(value)}"
        if number < len(holder.entries):
            at = self._extent(holder, number)[0]
            return Cut(at, at, f"{entry}, ")
        at = self._extent(holder, number - 1)[1]
        return Cut(at, at, f", {entry}")

    def _entry_text(self, holder: Node, step: Step, value: Any, lines: Lines | None) -> str:
        if lines:
            return lines.at(holder.column)
        return self._block([value] if isinstance(step, int) else {step: value}, holder.column)

    def _block_value(self, value: Any, column: int) -> str:
        return self._block(value, column if isinstance(value, list) else column + _STEP)

    def _block(self, value: Any, column: int) -> str:
        """Return the lines of a list or mapping."""
        lines = dump({"_": value}).split("\n")[1:-1] if isinstance(value, list) else _mapping_lines(value)
        return "".join(" " * column + line + self._newline for line in lines)

    def _spaced(self, index: int, words: str) -> str:
        """Return the replacement of an empty value, which begins just after its colon or dash."""
        return words if self._text[index - 1 : index] in ("", " ", "[", "{", "\n") else f" {words}"


def _mapping_lines(value: Any) -> list[str]:
    return dump(value).split("\n")[:-1] if isinstance(value, dict) else []


def _flow(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _inline(value: Any, old: Node) -> str:
    """Return a value on one line, in the quotes of the old one if it is a text."""
    if not isinstance(value, str) or "\n" in value or old.style == '"':
        return _flow(value)
    if old.style == "'":
        return "'" + value.replace("'", "''") + "'"
    return dump({"_": value}).removeprefix("_: ").removesuffix("\n")
