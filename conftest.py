"""Doctests are collected only from modules with examples, as looking through all others takes seconds."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from _pytest.doctest import DoctestModule


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(file_path: Path) -> Iterator[Any]:
    """Leave out modules without an example."""
    collected = yield
    if b">>>" in file_path.read_bytes():
        return collected
    return [node for node in collected if not isinstance(node, DoctestModule)]
