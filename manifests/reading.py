"""The result of reading: a document, its problems, and the places of its parts."""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

from manifests.document import Document, Steps
from manifests.kinds import LISTS
from manifests.paths import steps_to
from manifests.problem import ReadProblem


class Source(NamedTuple):
    """A document of a file."""

    label: str
    """The file's name, with `#n` for the n-th document of several."""
    document: Document


class Origin(NamedTuple):
    """The place of a part of the document."""

    source: Source
    steps: Steps
    inner: Document | None = None
    """For a configuration as text in a document: the text's own document."""

    def line(self, way: Steps) -> int:
        """Return the line of a key of this part, from 1."""
        if self.inner is None or not way:
            return self.source.document.place((*self.steps, *way)).line + 1
        return self.inner_line(self.inner.place(way).line)

    def inner_line(self, line: int) -> int:
        """Return the line, from 1, of a line of the text in this part, from 0."""
        place = self.source.document.place(self.steps)
        return place.line + 1 if place.text_line is None else place.text_line + line + 1


@dataclass
class Reading:
    """A scenario document made from files, with its problems; `line_of` finds the line of every key."""

    document: dict[str, Any] = field(default_factory=dict)
    """One scenario: lists of objects, and the configuration as a structure."""
    is_scenario: bool = False
    """Whether it was one scenario, with its own clock; live objects have none."""
    scheduler_conf_text: str | None = None
    """The configuration as written; None without one, or if it was written as a structure."""
    unknown_kinds: dict[str, int] = field(default_factory=dict)
    """Objects left out because the scheduler does not read them, such as `apps/v1 Deployment`."""
    problems: list[ReadProblem] = field(default_factory=list)
    origins: dict[Steps, Origin] = field(default_factory=dict)
    """Of every object, as (list, index), and of the other keys of `document`."""

    @property
    def counts(self) -> dict[str, int]:
        """The number of objects in each list."""
        return {name: len(self.document.get(name, ())) for name in LISTS}

    @property
    def has_errors(self) -> bool:
        """Whether errors must be fixed before this can be used."""
        return any(problem.severity == "error" for problem in self.problems)

    def line_of(self, path: str) -> tuple[str, int] | None:
        """Return file and line of a key of `document`, named as in ``queues[3].spec.weight``.

        A key that is not there has the line of the part that lacks it.
        """
        steps = steps_to(self.document, path)
        for taken in (2, 1):
            origin = self.origins.get(steps[:taken])
            if origin is not None:
                return origin.source.label, origin.line(steps[taken:])
        return None
