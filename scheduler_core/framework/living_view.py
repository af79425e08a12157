"""What outlives a session: views that are renewed, and plugins with nothing to renew."""

from __future__ import annotations

from abc import ABC, abstractmethod

from scheduler_core.model.renewal import Renewal


class LivingView(ABC):
    """A view of a session that is kept up to date, and possibly renewed for the next session."""

    __slots__ = ()

    @abstractmethod
    def renew(self, renewal: Renewal) -> bool:
        """Become the view of the next session; False: it must be rebuilt."""


def nothing_to_renew(_renewal: Renewal) -> bool:
    """Return True, as everything that the plugin registered holds in the next session."""
    return True
