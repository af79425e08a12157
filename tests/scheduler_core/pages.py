"""The tables of the plugins' pages, so that tests can compare their numbers with the code."""

from __future__ import annotations

from tests.shared import ROOT


def table(plugin: str, heading: str) -> list[list[str]]:
    """Return the rows of the first table below a heading of a plugin's page, without its head."""
    lines = (ROOT / "docs" / "plugins" / f"{plugin}.md").read_text(encoding="utf-8").splitlines()
    start = next(number for number, line in enumerate(lines) if line.lstrip("#").strip() == heading)
    rows: list[list[str]] = []
    for line in lines[start + 1 :]:
        if line.startswith("|"):
            rows.append([cell.strip() for cell in line.strip("|").split("|")])
        elif rows:
            break
    return rows[2:]
