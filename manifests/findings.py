"""The problems found, and their order in reports."""

from collections import Counter
from collections.abc import Iterable

from manifests.document import Fault, Steps
from manifests.form import Complaint
from manifests.paths import spell
from manifests.problem import ReadProblem, Severity
from manifests.reading import Source

MAX_PROBLEMS = 1000
"""The most reported problems; looking up the lines of more takes too long."""


class Findings:
    """Problems in the order of files and lines; beyond the limit they are counted."""

    def __init__(self) -> None:
        self._problems: list[ReadProblem] = []
        self._left_out: Counter[Severity] = Counter()
        self._labels: dict[str, int] = {}

    @property
    def are_many(self) -> bool:
        """Whether further ones are only counted, so that their places need not be looked up."""
        return len(self._problems) >= MAX_PROBLEMS

    def expect(self, label: str) -> None:
        """Register a file or document for the order."""
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
        """Add a complete problem."""
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
        """Add a problem of a document's key; `path` is given if the key has moved."""
        if self.are_many:
            self._left_out[severity] += 1
            return
        line = source.document.place(steps).line + 1
        path = spell(steps) if path is None else path
        self.add(rule, severity, message, document=source.label, line=line, path=path, fix=fix)

    def add_complaints(self, source: Source, complaints: Iterable[Complaint]) -> None:
        """Add the problems that make objects of a document unusable."""
        for found in complaints:
            self.add_at(source, found.steps, found.rule, "error", found.message, fix=found.fix)

    def add_fault(self, source: Source, fault: Fault, severity: Severity = "error") -> None:
        """Add an error in a document's form."""
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
