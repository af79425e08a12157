"""What is a plugin of the reference engine?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.reference.session import Session


class Plugin:
    """A plugin: its methods are named after the extension points."""

    def __init__(self, session: Session, arguments: dict[str, Any]) -> None:
        self.session, self.arguments = session, arguments
