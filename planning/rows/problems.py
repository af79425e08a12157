"""Rows of problems."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Problem:
    """A problem of, or a remark about, a plan or a text; unknown values are None."""

    rule: str
    severity: str
    message: str
    path: str | None = None
    queue: str | None = None
    field: str | None = None
    actual: Any = None
    limit: Any = None
    fix: str | None = None
    document: str | None = None
    line: int | None = None

    @property
    def is_error(self) -> bool:
        """Whether it prevents saving or simulating."""
        return self.severity == "error"

    @property
    def beside_place(self) -> str:
        """What is wrong, for a table whose own column names the place.

        >>> Problem("a", "error", "tiers[1]: it is empty", field="tiers[1]").beside_place
        'it is empty'
        """
        return self.message.removeprefix(f"{self.field}: ")

    @property
    def in_full(self) -> str:
        """The message with its fix.

        >>> Problem("a", "error", "The name is empty.", fix="Write a name.").in_full
        'The name is empty. Write a name.'
        >>> Problem("b", "error", "queue 'a' does not exist", fix="add the queue first").in_full
        "queue 'a' does not exist: add the queue first"
        """
        if not self.fix:
            return self.message
        return f"{self.message}{'' if self.message.endswith('.') else ':'} {self.fix}"


@dataclass(frozen=True)
class ConfFinding(Problem):
    """A finding about a configuration.

    `remedy` is the JSON patch of the configuration that mends it, empty where no edit of its own does.
    """

    remedy: Sequence[Mapping[str, Any]] = ()

    @property
    def patch(self) -> str:
        """Return the remedy as a button sends it."""
        return json.dumps(self.remedy, ensure_ascii=False)
