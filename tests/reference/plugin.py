"""The interface of plugins of the reference engine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.reference.configuration import as_bool, as_int

if TYPE_CHECKING:
    from tests.reference.session import Session

PERMIT, ABSTAIN, REJECT = 1, 0, -1


class Plugin:
    """A plugin: its methods are named after the extension points."""

    def __init__(self, session: Session, arguments: dict[str, Any]) -> None:
        self.session, self.arguments = session, arguments

    def flag(self, name: str, default: bool) -> bool:
        return as_bool(self.arguments.get(name), default)

    def number(self, name: str, default: int) -> int:
        return as_int(self.arguments.get(name), default)
