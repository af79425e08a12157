"""The configuration of the web server (`--config python:config.gunicorn`)."""

import ctypes
import gc
import shutil
from contextlib import suppress
from pathlib import Path
from typing import Any

from django.conf import settings

from config.folders import leftovers_remove, private_folder

worker_class = "config.web_worker.PatientThreads"
workers = 2
preload_app = True
"""All modules are imported once and shared: the processes start in half the processor time."""
threads = 64
"""More than can work at once: most wait for slow clients, and a page must not wait behind them, not even when
fifty of those come to the same process.
"""
timeout = 120
graceful_timeout = 30
limit_request_line = 8190
limit_request_fields = 60
control_socket_disable = True


def on_starting(server: Any) -> None:
    """Remove the uploads of a killed server."""
    leftovers_remove(_uploads())


def when_ready(server: Any) -> None:
    """Exclude shared objects from garbage collection, which would copy their memory into each process."""
    gc.collect()
    gc.freeze()


def post_worker_init(worker: Any) -> None:
    """Give each process a folder for uploads, and let it return unused memory."""
    _limit_malloc_arenas()
    settings.FILE_UPLOAD_TEMP_DIR = private_folder(_uploads() / str(worker.pid))


def child_exit(server: Any, worker: Any) -> None:
    """Remove the uploads of a process that has ended."""
    shutil.rmtree(_uploads() / str(worker.pid), ignore_errors=True)


def _limit_malloc_arenas() -> None:
    """Let all threads allocate from two arenas.

    By default glibc has eight for each processor, and each of them keeps what its threads once needed.
    """
    m_arena_max = -8
    with suppress(OSError, AttributeError):  # another C library
        ctypes.CDLL("libc.so.6").mallopt(m_arena_max, 2)


def _uploads() -> Path:
    return Path(settings.VAR_DIR) / "uploads"
