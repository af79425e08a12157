"""The split of many similar cases into those of every test run and those of `make test-long`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def trials(cases: Iterable[Any], *, always: int) -> list[Any]:
    """Return cases for `parametrize`: the first `always` run every time, the others are marked long."""
    return [
        pytest.param(case, marks=pytest.mark.long if number >= always else ())
        for number, case in enumerate(cases)
    ]
