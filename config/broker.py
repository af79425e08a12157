"""How do kicks travel over Redis?"""

from typing import Any

from kombu.transport import redis


class Channel(redis.Channel):
    """A channel whose messages are gone once they are delivered: a kick may be lost."""

    def basic_ack(self, *_: Any, **__: Any) -> None:
        """Do nothing.

        A worker that acknowledged to a Redis that had just gone would end, or lose unnoticed the connection
        on which it listens.
        """


class Transport(redis.Transport):
    """Redis without acknowledgements."""

    Channel = Channel
