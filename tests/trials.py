"""Which of many similar cases every change runs, and which are left to `make test-long`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def trials(cases: Iterable[Any], *, always: int) -> list[Any]:
    """Return cases for `parametrize`: the first `always` are tried on every change, the others are long."""
    return [
        pytest.param(case, marks=pytest.mark.long if number >= always else ())
        for number, case in enumerate(cases)
    ]
