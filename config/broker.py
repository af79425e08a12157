"""How do notifications travel?"""

from typing import Any

from kombu.transport import filesystem, redis


class _Unacknowledged:
    """A channel whose messages are gone once they are delivered: a notification may be lost."""

    def basic_ack(self, *_: Any, **__: Any) -> None:
        """Do nothing.

        A worker that acknowledged to a Redis that had just gone would end, or lose unnoticed the connection
        on which it listens.
        """


class _RedisChannel(_Unacknowledged, redis.Channel):
    """Over Redis."""


class _FilesChannel(_Unacknowledged, filesystem.Channel):
    """Through a folder of this machine."""


class Redis(redis.Transport):
    """Between machines."""

    Channel = _RedisChannel


class Files(filesystem.Transport):
    """On one machine."""

    Channel = _FilesChannel
