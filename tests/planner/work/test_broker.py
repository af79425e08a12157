"""Does a worker ever find a part of a notification?"""

import json
from pathlib import Path
from threading import Thread

from kombu import Connection

from config.broker import Files

COUNT = 2_000


def test_a_message_is_found_whole_while_it_is_written(tmp_path: Path) -> None:
    folders = {
        name: str(tmp_path)
        for name in ("data_folder_in", "data_folder_out", "control_folder", "processed_folder")
    }

    def notify() -> None:
        with Connection("filesystem://", transport=Files, transport_options=folders) as connection:
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
