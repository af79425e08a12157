"""Problems and failures in the shape of the API, shared by client, files and server."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import manifests
from planning.suggestions import meant

if TYPE_CHECKING:
    from scheduler_core import Problem

Json = dict[str, Any]

KEYS = (
    "rule", "severity", "message", "path", "queue", "field", "actual", "limit", "fix", "document", "line",
)  # fmt: skip
"""Every problem has all of these keys; unknown values are None."""


class Rejected(Exception):
    """The request cannot be carried out; `body` is an error in the shape of the API."""

    def __init__(
        self, message: str, problems: Sequence[Mapping[str, Any]] = (), code: str = "invalid"
    ) -> None:
        self.code = code
        self.message = message
        self.problems = [problem(**one) for one in problems]
        super().__init__("\n".join([message, *map(line_of, self.problems)]))

    def in_file(self, label: str) -> Rejected:
        """Return the failure with the user's file in place of the configuration's generic name."""
        is_conf = [one["document"] == manifests.CONF_KEY for one in self.problems]
        named = [
            one | {"document": label} if conf else one
            for one, conf in zip(self.problems, is_conf, strict=True)
        ]
        return Refused(self.message, named, self.code)

    @property
    def body(self) -> Json:
        """Return the failure as a server responds."""
        return {"code": self.code, "message": self.message, "problems": self.problems}


class Refused(Rejected):
    """A file cannot be read, a name is unknown, or a plan cannot be simulated."""


def problem(**known: Any) -> Json:
    """Return a problem with every key of the shape; an empty text is omitted.

    >>> problem(rule="a", message="b", queue="")["queue"] is None
    True
    """
    return {key: None if (value := known.get(key)) == "" else value for key in KEYS}


def as_problem(found: Problem | manifests.ReadProblem, **more: Any) -> Json:
    """Return a problem of the core or of the reader."""
    return problem(**(asdict(found) | more))


def refusal(problems: Sequence[Mapping[str, Any]]) -> Refused:
    """Return a refusal with these problems, in the words of the API."""
    errors = sum(one["severity"] == "error" for one in problems)
    return Refused(f"{errors} problem{'' if errors == 1 else 's'} to fix; nothing was saved.", problems)


def errors_of(problems: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the errors among problems."""
    return [one for one in problems if one["severity"] == "error"]


def line_of(one: Mapping[str, Any]) -> str:
    """Return a problem in the format of compilers.

    >>> line_of(problem(rule="a", severity="error", message="is 0", document="q.yaml", line=3, fix="write 1"))
    'q.yaml:3: error: is 0. Fix: write 1.'
    """
    where = place_of(one)
    fix = f". Fix: {one['fix'].rstrip('.')}." if one.get("fix") else ""
    return f"{where}{': ' if where else ''}{one['severity']}: {one['message'].rstrip('.')}{fix or '.'}"


def place_of(one: Mapping[str, Any]) -> str:
    """Return file and line of a problem, else its path."""
    if one.get("document"):
        return ":".join(str(part) for part in (one["document"], one.get("line")) if part)
    return one.get("path") or ""


def unknown(what: str, name: str, known: Iterable[str], *, where: str = "") -> Refused:
    """Return a refusal of an unknown name, with suggestions.

    >>> print(unknown("queue", "reserch", ["research", "ads"], where="in the plan"))
    No queue 'reserch' in the plan. Did you mean 'research'?
    """
    return Refused(
        " ".join([f"No {what} {name!r}{' ' + where if where else ''}.", meant(name, known)]).strip(),
        code="not_found",
    )
