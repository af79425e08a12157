"""What was found wrong so far, and in which order is it reported?"""

from collections import Counter
from collections.abc import Iterable

from manifests.document import Fault, Steps
from manifests.form import Complaint
from manifests.paths import spell
from manifests.problem import ReadProblem, Severity
from manifests.reading import Source

MAX_PROBLEMS = 1000
"""How many are reported; looking up the lines of more would cost more than it helps."""


class Findings:
    """Problems in the order of files and lines; of too many, the rest is counted."""

    def __init__(self) -> None:
        self._problems: list[ReadProblem] = []
        self._left_out: Counter[Severity] = Counter()
        self._labels: dict[str, int] = {}

    @property
    def are_many(self) -> bool:
        """Whether further ones are only counted, so that looking up their places would be in vain."""
        return len(self._problems) >= MAX_PROBLEMS

    def expect(self, label: str) -> None:
        """Give a file or document its place in the order."""
        self._labels.setdefault(label, len(self._labels))

    def add(
        self,
        rule: str,
        severity: Severity,
        message: str,
        *,
        document: str = "",
        line: int | None = None,
        path: str = "",
        fix: str = "",
    ) -> None:
        """Add a problem of which everything is known."""
        if self.are_many:
            self._left_out[severity] += 1
        else:
            self._problems.append(ReadProblem(rule, severity, message, document, line, path, fix))

    def add_at(
        self,
        source: Source,
        steps: Steps,
        rule: str,
        severity: Severity,
        message: str,
        *,
        fix: str = "",
        path: str | None = None,
    ) -> None:
        """Add a problem with a key of a document; `path` is given where the key has another way by now."""
        line = None if self.are_many else source.document.place(steps).line + 1
        path = spell(steps) if path is None else path
        self.add(rule, severity, message, document=source.label, line=line, path=path, fix=fix)

    def add_complaints(self, source: Source, complaints: Iterable[Complaint]) -> None:
        """Add what keeps objects of a document from being taken."""
        for found in complaints:
            self.add_at(source, found.steps, found.rule, "error", found.message, fix=found.fix)

    def add_fault(self, source: Source, fault: Fault, severity: Severity = "error") -> None:
        """Add a fault of a document's form."""
        line, path = fault.line + 1, spell(fault.steps)
        self.add(
            fault.rule, severity, fault.message, document=source.label, line=line, path=path, fix=fault.fix
        )

    def ordered(self) -> list[ReadProblem]:
        """Return the problems, file by file, line by line."""
        ordered = sorted(
            self._problems, key=lambda found: (self._labels.get(found.document, -1), found.line or 0)
        )
        if left_out := self._left_out.total():
            worst: Severity = next(
                severity for severity in ("error", "warning", "remark") if self._left_out[severity]
            )
            message = f"{left_out} more problems are not shown"
            ordered.append(ReadProblem("form.more", worst, message, "", None, "", "fix these first"))
        return ordered
