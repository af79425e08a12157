"""Views that are renewed from session to session, and the renewal of plugins without state."""

from __future__ import annotations

from abc import ABC, abstractmethod

from scheduler_core.model.renewal import Renewal


class LivingView(ABC):
    """A view of a session that is kept up to date, and possibly renewed for the next session."""

    __slots__ = ()

    @abstractmethod
    def renew(self, renewal: Renewal) -> bool:
        """Update to the view of the next session; return False if it must be rebuilt."""


def nothing_to_renew(_renewal: Renewal) -> bool:
    """Return True: everything that the plugin registered is valid in the next session."""
    return True
