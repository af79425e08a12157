"""The client and the command line `queuecast`, for scripts and CI, without Django."""

from typing import TYPE_CHECKING, Any

from queuecast.client import Client
from queuecast.problems import Refused, Rejected
from queuecast.server import Failure, Unreachable

if TYPE_CHECKING:
    from queuecast.local import Local

__all__ = ["Client", "Failure", "Local", "Refused", "Rejected", "Unreachable"]


def __getattr__(name: str) -> Any:
    """Import `Local`, and with it the core, when it is first used; a client of a server needs neither."""
    if name != "Local":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from queuecast.local import Local

    return Local
