"""Problems of a text, with their place and fix."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

Severity = Literal["error", "warning", "remark"]


@dataclass(frozen=True)
class ReadProblem:
    """A problem of, or a remark about, a text."""

    rule: str
    severity: Severity
    message: str
    document: str
    """The file, with `#n` for its n-th document if it has several."""
    line: int | None
    """Line in the file, from 1; None if the problem concerns the file as a whole."""
    path: str
    """Path in the document, or in the text's own document; may be empty."""
    fix: str


class Unreadable(ValueError):
    """A text that must be read as a whole cannot be read; `problems` says why."""

    def __init__(self, problems: Iterable[ReadProblem]) -> None:
        self.problems = list(problems)
        super().__init__("; ".join(f"line {found.line}: {found.message}" for found in self.problems))
