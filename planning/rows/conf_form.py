"""Rows of the form of a scheduler configuration.

Buttons are JSON patches as texts, empty where nothing is to do.
"""

from collections.abc import Sequence
from dataclasses import dataclass

Choices = Sequence[tuple[str, str]]
"""Names with the JSON patch of each choice."""


@dataclass(frozen=True)
class SwitchField:
    """One switch of a plugin: its text, empty if not set, and its effective value (`on` or `off`)."""

    name: str
    value: str
    default: str


@dataclass(frozen=True)
class ArgumentField:
    """One argument: its text, its type in words, its default, its meaning with its unit."""

    name: str
    value: str
    kind: str
    default: str
    meaning: str
    is_flag: bool
    is_long: bool


@dataclass(frozen=True)
class ActionForm:
    """An action in its position; `key` is unique among entries of its name."""

    name: str
    key: str
    up: str
    down: str
    remove: str


@dataclass(frozen=True)
class EntryForm:
    """The arguments of an action; `path` is their JSON pointer."""

    name: str
    path: str
    remove: str
    arguments: Sequence[ArgumentField]


@dataclass(frozen=True)
class PluginForm:
    """A plugin in its position; `patterns` are arguments whose names have a free suffix."""

    name: str
    key: str
    says: str
    up: str
    down: str
    earlier: str
    later: str
    remove: str
    path: str
    switches: Sequence[SwitchField]
    arguments: Sequence[ArgumentField]
    patterns: Sequence[str]
    is_known: bool

    @property
    def switches_written(self) -> int:
        """Return how many switches are set to other values than their defaults."""
        return sum(bool(switch.value) for switch in self.switches)

    @property
    def arguments_written(self) -> int:
        """Return how many arguments are set."""
        return sum(bool(argument.value) for argument in self.arguments)


@dataclass(frozen=True)
class TierForm:
    """A tier, numbered from 1, and the plugins that can be added to it."""

    number: str
    plugins: Sequence[PluginForm]
    up: str
    down: str
    remove: str
    more_plugins: Choices


@dataclass(frozen=True)
class ConfForm:
    """A configuration as fields and buttons; only `write_default` if the text is empty."""

    actions: Sequence[ActionForm] = ()
    more_actions: Choices = ()
    tiers: Sequence[TierForm] = ()
    add_tier: str = ""
    configured: Sequence[EntryForm] = ()
    more_configured: Choices = ()
    write_default: str = ""
