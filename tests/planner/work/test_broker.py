"""A worker never reads part of a notification."""

import json
from pathlib import Path
from threading import Thread

from kombu import Connection

from config.broker import Files

COUNT = 2_000
TABLES = 500


def connected(folder: Path) -> Connection:
    names = ("data_folder_in", "data_folder_out", "control_folder", "processed_folder")
    return Connection("filesystem://", transport=Files, transport_options=dict.fromkeys(names, str(folder)))


def test_a_message_is_never_read_half_written(tmp_path: Path) -> None:
    def notify() -> None:
        with connected(tmp_path) as connection:
            for _ in range(COUNT):
                connection.default_channel._put("queue", {"says": "something waits"})

    writer = Thread(target=notify)
    writer.start()
    found: set[Path] = set()
    while writer.is_alive():
        for path in set(tmp_path.glob("*.queue.msg")) - found:
            assert json.loads(path.read_text())
            found.add(path)
    writer.join()
    assert len(list(tmp_path.glob("*.queue.msg"))) == COUNT


def test_a_queue_table_is_never_read_half_written(tmp_path: Path) -> None:
    def bind() -> None:
        with connected(tmp_path) as connection:
            for number in range(TABLES):
                connection.default_channel._queue_bind(f"exchange{number}", "key", "", "queue")

    writer = Thread(target=bind)
    writer.start()
    with connected(tmp_path) as connection:
        for number in range(TABLES):
            while not (found := connection.default_channel.get_table(f"exchange{number}")):
                pass
            assert found == [("key", "", "queue")]
    writer.join()


def test_a_queue_is_added_to_an_existing_table(tmp_path: Path) -> None:
    with connected(tmp_path) as connection:
        for queue in ("first", "second", "first"):
            connection.default_channel._queue_bind("exchange", "key", "", queue)
        assert connection.default_channel.get_table("exchange") == [
            ("key", "", "second"),
            ("key", "", "first"),
        ]
