"""The words of a scheduler configuration, for completion in editors."""

from collections.abc import Iterable
from typing import TypedDict

from scheduler_core.conf import ACTIONS, SWITCHES, UNMODELLED_PLUGINS
from scheduler_core.lint.arguments import ACTION_ARGUMENTS, ARGUMENTS


class ConfWords(TypedDict):
    """The names of actions, of switches, and of plugins and configurable actions with their arguments."""

    actions: list[str]
    switches: list[str]
    plugins: dict[str, list[str]]
    configurations: dict[str, list[str]]


def conf_words() -> ConfWords:
    """Return every name that Volcano knows; arguments that are patterns are left out."""
    return {
        "actions": sorted(ACTIONS),
        "switches": sorted(SWITCHES),
        "plugins": {
            name: _named(ARGUMENTS.get(name, ())) for name in sorted([*ARGUMENTS, *UNMODELLED_PLUGINS])
        },
        "configurations": {name: _named(known) for name, known in sorted(ACTION_ARGUMENTS.items())},
    }


def _named(arguments: Iterable[str]) -> list[str]:
    return sorted(name for name in arguments if not name.endswith("*"))
