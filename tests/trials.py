"""The split of many similar cases into those of every test run and those of `make test-long`."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import settings


def trials(cases: Iterable[Any], *, always: int) -> list[Any]:
    """Return cases for `parametrize`: the first `always` run every time, the others are marked long."""
    return [
        pytest.param(case, marks=pytest.mark.long if number >= always else ())
        for number, case in enumerate(cases)
    ]


def examples(*, always: int, many: int) -> settings:
    """Return the number of examples that Hypothesis generates: `many` where QUEUECAST_EXAMPLES is set."""
    return settings(max_examples=many if "QUEUECAST_EXAMPLES" in os.environ else always)
