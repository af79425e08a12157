"""The file beside a table has the rows and figures of the page."""

import csv
import io
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from html.parser import HTMLParser
from typing import Any

import pytest
from django.test import Client
from django.urls import URLResolver, get_resolver

from scheduler_core.quantity import QuantityError, parse_quantity
from tests import factories
from tests.planner.pages import text_of
from tests.planner.recorded import executed

pytestmark = pytest.mark.django_db(transaction=True)


Panel = tuple[list[str], list[tuple[str, list[str]]]]


class Panels(HTMLParser):
    """Parser of the panels of a page: the links to their CSV files, and the rows of their tables.

    A row is the text of its first header, and the raw values of its numbers.
    """

    def __init__(self) -> None:
        super().__init__()
        self.panels: list[Panel] = []
        self._named = self._in_row = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag == "section":
            self.panels.append(([], []))
        if not self.panels:
            return
        links, rows = self.panels[-1]
        if tag == "a" and "format=csv" in (given.get("href") or ""):
            links.append(str(given["href"]))
        elif tag == "tr":
            rows.append(("", []))
            self._named, self._in_row = False, True
        elif tag == "th" and given.get("scope") == "row" and rows and not rows[-1][0]:
            self._named = True
        elif tag == "data" and self._in_row and given.get("value"):
            rows[-1][1].append(str(given["value"]))

    def handle_endtag(self, tag: str) -> None:
        if tag in ("th", "tr"):
            self._named = False
        if tag == "tr":
            self._in_row = False

    def handle_data(self, data: str) -> None:
        if self._named and data.strip() and self.panels:
            rows = self.panels[-1][1]
            rows[-1] = (f"{rows[-1][0]} {data.strip()}".strip(), rows[-1][1])


def pages_of(patterns: Any, known: dict[str, Any], before: str = "/") -> Iterator[str]:
    """Yield the address of every page whose parameters are known."""
    for pattern in patterns:
        where = before + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            if "api" not in where:
                yield from pages_of(pattern.url_patterns, known, where)
        elif all(name in known for name in pattern.pattern.converters) and pattern.name != "login":
            yield re.sub(r"<(?:\w+:)?(\w+)>", lambda found: str(known[found[1]]), where)


def file_of(browser: Client, link: str) -> list[list[str]]:
    """Return the rows of a CSV file, the header first."""
    answer = browser.get(link)
    assert answer.status_code == 200, link
    text = b"".join(answer.streaming_content).decode()  # type: ignore[attr-defined]
    return list(csv.reader(io.StringIO(text)))


def numbers_of(cells: Iterable[str]) -> set[float]:
    """Return the numbers among cells, and 1000 times each: 8 cores are 8000 millicores."""
    found = set()
    for cell in cells:
        with suppress(QuantityError):
            quantity = float(parse_quantity(cell))
            found |= {quantity, quantity * 1000}
    return found


def _floats(values: Iterable[str]) -> set[float]:
    found = set()
    for value in values:
        with suppress(ValueError):
            found.add(float(value))
    return found


def _beside(lines: Sequence[list[str]], more: Sequence[list[str]]) -> list[list[str]]:
    """Return the settings of queues with their calculated figures, which are another list of the API."""
    return [[*line, *(cell for other in more if line[0] in other for cell in other)] for line in lines]


def test_csv_files_have_the_rows_and_figures_of_their_pages(browser: Client) -> None:
    """Rows are matched by name; a page may show less than its file, but nothing else."""
    run = executed(factories.run())
    known = {"run_id": run.pk, "scenario_id": run.scenario_id}
    compared, differing = Counter[str](), []
    for page in pages_of(get_resolver().url_patterns, known):
        answer = browser.get(page)
        if answer.status_code != 200 or "html" not in answer.headers["Content-Type"]:
            continue
        read = Panels()
        read.feed(text_of(answer))
        for links, rows in read.panels:
            for link in links:
                _, *lines = file_of(browser, link) or [[]]
                if link == f"/api/v1/scenarios/{run.scenario_id}/queues/?format=csv":
                    lines = _beside(lines, file_of(browser, link.replace("queues", "preview")))
                for name, figures in rows:
                    found = next((line for line in lines if name in line), None)
                    if found is None:
                        continue
                    compared[re.sub(r".*/|\?.*", "", link.partition("?")[0].rstrip("/"))] += 1
                    if missing := _floats(figures) - numbers_of(found):
                        differing.append((page, link, name, missing))
    assert not differing, "\n".join(map(str, differing))
    assert compared.keys() >= {"queues", "jobs", "victims", "nodes", "workloads"}
