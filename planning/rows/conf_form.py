"""Which fields and buttons has the form of a scheduler configuration?

Buttons are JSON patches as texts, empty where nothing is to do.
"""

from collections.abc import Sequence
from dataclasses import dataclass

Choices = Sequence[tuple[str, str]]
"""Names with the JSON patch that choosing one makes."""


@dataclass(frozen=True)
class SwitchField:
    """One switch of a plugin: what is written, empty for nothing, and what then holds (`on` or `off`)."""

    name: str
    value: str
    default: str


@dataclass(frozen=True)
class ArgumentField:
    """One argument: what is written, its type in words, what holds without it, its meaning with its unit."""

    name: str
    value: str
    kind: str
    default: str
    meaning: str
    is_flag: bool
    is_long: bool


@dataclass(frozen=True)
class ActionForm:
    """An action in its place; `key` tells it from others of its name."""

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
    """A plugin in its place; `patterns` are arguments whose name has an ending of one's own."""

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
        """Return how many switches do not stand at their default because something is written."""
        return sum(bool(switch.value) for switch in self.switches)

    @property
    def arguments_written(self) -> int:
        """Return how many arguments are written."""
        return sum(bool(argument.value) for argument in self.arguments)


@dataclass(frozen=True)
class TierForm:
    """A tier, its number counted from 1, and the plugins that it could have, too."""

    number: str
    plugins: Sequence[PluginForm]
    up: str
    down: str
    remove: str
    more_plugins: Choices


@dataclass(frozen=True)
class ConfForm:
    """A configuration as fields and buttons; only `write_default` where the text is empty."""

    actions: Sequence[ActionForm] = ()
    more_actions: Choices = ()
    tiers: Sequence[TierForm] = ()
    add_tier: str = ""
    configured: Sequence[EntryForm] = ()
    more_configured: Choices = ()
    write_default: str = ""
