"""Transports of notifications."""

from pathlib import Path
from time import monotonic_ns
from typing import Any
from uuid import uuid4

from kombu.transport import filesystem, redis
from kombu.utils.json import dumps


class _Unacknowledged:
    """A channel that forgets messages once they are delivered: a notification may be lost."""

    def basic_ack(self, *_: Any, **__: Any) -> None:
        """Do nothing.

        A worker that acknowledged to a Redis that had just gone would end, or lose unnoticed the connection
        on which it listens.
        """


class _RedisChannel(_Unacknowledged, redis.Channel):
    """Notifications over Redis."""


class _FilesChannel(_Unacknowledged, filesystem.Channel):
    """Notifications through a folder of this machine."""

    # kombu's classes disagree on the name of the second parameter.
    def _put(self, queue: str, payload: Any, **_: Any) -> None:  # type: ignore[override]
        """Write a message: a worker that found one of which nothing is written yet would end."""
        name = f"{monotonic_ns()}_{uuid4()}.{queue}.msg"
        _write_whole(Path(self.data_folder_out) / name, payload)

    def _queue_bind(self, exchange: str, routing_key: str, pattern: str | None, queue: str) -> None:
        """Write the table of queues before it gets its name: a reader of an empty one would exit.

        Two that make it at once write the same.
        """
        table = Path(self.control_folder) / f"{exchange}.exchange"
        if not table.exists():
            _write_whole(table, [(routing_key or "", pattern or "", queue)])
        super()._queue_bind(exchange, routing_key, pattern, queue)


def _write_whole(file: Path, content: Any) -> None:
    """Write a file, then rename it."""
    part = file.with_name(f"{uuid4()}.part")
    part.write_text(dumps(content))
    part.rename(file)


class Redis(redis.Transport):
    """Between machines."""

    Channel = _RedisChannel


class Files(filesystem.Transport):
    """On one machine."""

    Channel = _FilesChannel
