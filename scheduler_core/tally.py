"""Tally of comparisons with the scenarios of a recorded file."""

from __future__ import annotations

from collections import Counter
from typing import Any

from scheduler_core import Options, simulate_document
from scheduler_core.conf import UNMODELLED_PLUGINS, parse_conf
from scheduler_core.errors import InputError
from scheduler_core.parity import first_difference, first_message_difference, unmet
from scheduler_core.reading import Entry


class Tally:
    """The tally of one recorded file.

    Attributes
    ----------
    total, equal, messages : int
        Numbers of compared scenarios, of equal ones, and of those whose texts are also equal.
    apart : Counter
        Numbers of scenarios with a plugin that is not modelled, by plugin; they do not count.
    differences : list of str
        The differences, one line per scenario.
    faults : list of str
        Why lines of the file could not be read.

    """

    def __init__(self) -> None:
        self.total = self.equal = self.messages = 0
        self.apart: Counter[str] = Counter()
        self.differences: list[str] = []
        self.faults: list[str] = []

    def add(self, entry: Entry) -> None:
        """Simulate a recorded scenario and compare."""
        assert entry.recorded is not None, "only recorded scenarios are compared"
        unmodelled = unmodelled_plugins(entry.scenario)
        if unmodelled:
            self.apart.update(unmodelled)
            return
        name = entry.scenario.get("name")
        ours = simulate_document(entry.scenario, Options(explain=False))
        self.total += 1
        try:
            difference = first_difference(ours, entry.recorded)
            message = first_message_difference(ours, entry.recorded)
            unmet_texts = unmet(ours, entry.expected)
        except (AttributeError, LookupError, TypeError, ValueError) as error:
            says = f"what is recorded is not a result ({type(error).__name__}: {error})"
            self.differences.append(f"{name}: {says}")
            return
        self.equal += difference is None
        self.messages += difference is None and message is None
        if difference is not None or message is not None:
            kind = "differs" if difference is not None else "message"
            self.differences.append(f"{name}: {kind}: {difference or message}")
        self.differences += [f"{name}: expected by Volcano's test: {text}" for text in unmet_texts]

    @property
    def is_equal(self) -> bool:
        """Return whether the file has recorded results, all of which could be read and are equal."""
        has_some = bool(self.total or self.apart)
        return has_some and not self.faults and self.equal == self.total

    def line(self) -> str:
        """Return the figures in one line."""
        if not self.total and not self.apart:
            return "no recorded results" if not self.faults else "cannot be read"
        parts = [
            f"{self.equal} of {self.total} equal ({_percent(self.equal, self.total)})",
            f"messages {_percent(self.messages, self.total)}",
        ]
        parts += [f"{count} apart for {plugin}" for plugin, count in sorted(self.apart.items())]
        return ", ".join(parts)


def unmodelled_plugins(scenario: dict[str, Any]) -> list[str]:
    """Return the plugins of a scenario's configuration that the core accepts but does not model."""
    try:
        conf = parse_conf(scenario.get("scheduler_conf"))
    except InputError:
        return []
    return sorted({option.name for option in conf.options()} & set(UNMODELLED_PLUGINS))


def _percent(part: int, whole: int) -> str:
    return f"{100.0 * part / whole if whole else 100.0:.1f} %"
