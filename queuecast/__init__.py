"""The client and the command line `queuecast`, for scripts and CI, without Django."""

from queuecast.client import Client
from queuecast.local import Local
from queuecast.problems import Refused, Rejected
from queuecast.server import Failure, Unreachable

__all__ = ["Client", "Failure", "Local", "Refused", "Rejected", "Unreachable"]
