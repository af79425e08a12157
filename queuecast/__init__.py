"""What would Volcano decide? A client and a command line for scripts and for CI, without Django."""

from queuecast.client import Client
from queuecast.local import Local
from queuecast.problems import Refused, Rejected
from queuecast.server import Failure, Unreachable

__all__ = ["Client", "Failure", "Local", "Refused", "Rejected", "Unreachable"]
