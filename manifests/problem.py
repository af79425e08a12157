"""What is wrong with a text, where exactly, and what would mend it?"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

Severity = Literal["error", "warning", "remark"]


@dataclass(frozen=True)
class ReadProblem:
    """One thing that is wrong with, or worth knowing about, a text that was read."""

    rule: str
    severity: Severity
    message: str
    document: str
    """The file, with `#n` behind it for its n-th document when it holds several."""
    line: int | None
    """Line in the file, the first is 1; None when the problem concerns the file as a whole."""
    path: str
    """Where in the document that was read, or else in the text's own document; may be empty."""
    fix: str


class Unreadable(ValueError):
    """A text that had to be read as a whole cannot be; `problems` says why."""

    def __init__(self, problems: Iterable[ReadProblem]) -> None:
        self.problems = list(problems)
        super().__init__("; ".join(f"line {found.line}: {found.message}" for found in self.problems))
