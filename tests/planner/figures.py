"""Parser of the numbers on a page and of the raw value beside each, by row and by section."""

import re
from dataclasses import dataclass, field
from html.parser import HTMLParser

_VOID = {"br", "hr", "img", "input", "link", "meta", "wbr"}
_NAMES = {"a", "caption", "code", "figcaption", "option", "pre", "script", "style", "th", "time", "title"}
_WORDS = {"grid__name", "grid__why", "notes", "notice"}


@dataclass
class Cell:
    """The text of one cell, and its raw values."""

    text: str = ""
    values: list[float] = field(default_factory=list)


class Figures(HTMLParser):
    """The figures of a page.

    `values` has every raw value in page order, `parts` those of each section by its label,
    `rows` the cells of every row of every table body, `bare` the texts that hold a number and no raw value
    (names, moments and sentences of the scheduler aside).
    """

    def __init__(self, html: str) -> None:
        super().__init__()
        self.values: list[float] = []
        self.parts: dict[str, list[float]] = {}
        self.rows: list[list[Cell]] = []
        self.bare: list[str] = []
        self._open: list[tuple[str, dict[str, str | None]]] = []
        self._label = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag == "section":
            self._label = given.get("id") or given.get("aria-label") or given.get("aria-labelledby") or ""
        elif tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th") and self.rows:
            self.rows[-1].append(Cell())
        elif tag == "data":
            self._keep(float(given["value"] or "nan"))
        if tag not in _VOID:
            self._open.append((tag, given))

    def handle_endtag(self, tag: str) -> None:
        while self._open and self._open.pop()[0] != tag:
            pass
        if tag == "section":
            self._label = ""

    def handle_data(self, text: str) -> None:
        if self._is_inside("tr") and self.rows and self.rows[-1] and not self._is_inside("script"):
            self.rows[-1][-1].text += text
        if re.search(r"\d", text) and self._is_inside("main") and not self._is_explained():
            self.bare.append(text.strip())

    def _keep(self, value: float) -> None:
        self.values.append(value)
        self.parts.setdefault(self._label, []).append(value)
        if self._is_inside("tr") and self.rows[-1]:
            self.rows[-1][-1].values.append(value)

    def _is_inside(self, tag: str) -> bool:
        return any(tag == outer for outer, _ in self._open)

    def _is_explained(self) -> bool:
        classes = {name for _, given in self._open for name in (given.get("class") or "").split()}
        tags = {tag for tag, _ in self._open}
        return "data" in tags or bool(tags & _NAMES) or bool(classes & _WORDS)
