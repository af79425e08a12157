"""How do notifications travel?"""

from pathlib import Path
from time import monotonic_ns
from typing import Any
from uuid import uuid4

from kombu.transport import filesystem, redis
from kombu.utils.json import dumps


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

    # kombu's classes disagree on the name of the second parameter.
    def _put(self, queue: str, payload: Any, **_: Any) -> None:  # type: ignore[override]
        """Write a message, then give it the name by which it is found.

        A worker that found a message of which nothing was written yet would end.
        """
        folder, name = Path(self.data_folder_out), f"{monotonic_ns()}_{uuid4()}"
        part = folder / f"{name}.part"
        part.write_text(dumps(payload))
        part.rename(folder / f"{name}.{queue}.msg")


class Redis(redis.Transport):
    """Between machines."""

    Channel = _RedisChannel


class Files(filesystem.Transport):
    """On one machine."""

    Channel = _FilesChannel
