"""Every field of a queue that nothing reads is reported."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_core.conf import parse_conf
from scheduler_core.queue_fields import FIELDS, unread_fields
from tests.builders import conf

ALWAYS = {"dequeueStrategy"}
HIERARCHY = {"enableHierarchy": True}
CASES: dict[str, tuple[Any, set[str]]] = {
    "Volcano's default": (None, {"deserved", "parent", "reclaimable", "affinity", "hierarchy"}),
    "capacity does not read weights": (
        conf("allocate, reclaim", ["capacity"]),
        {"weight", "parent", "affinity", "hierarchy"},
    ),
    "capacity with a tree reads parents": (
        conf("allocate, gangreclaim", [("capacity", HIERARCHY)]),
        {"weight", "affinity", "hierarchy"},
    ),
    "few fields are read without a quota plugin": (
        conf("allocate", ["gang"]),
        set(FIELDS),
    ),
    "priority needs the queue order": (
        conf("reclaim", [("proportion", {"enableQueueOrder": False})]),
        {"priority", "deserved", "parent", "affinity", "hierarchy"},
    ),
    "hdrf reads annotations, nodegroup affinity": (
        conf("reclaim", [("drf", HIERARCHY)], ["proportion", "nodegroup"]),
        {"deserved", "parent"},
    ),
    "nodegroup inherits affinity in a tree": (
        conf("reclaim", ["capacity", ("nodegroup", HIERARCHY)]),
        {"weight", "hierarchy"},
    ),
}


@pytest.mark.parametrize(("structure", "want"), CASES.values(), ids=CASES.keys())
def test_fields_that_no_plugin_reads_are_reported(structure: Any, want: set[str]) -> None:
    unread = unread_fields(parse_conf(structure))
    assert set(unread) == want | ALWAYS
    assert all(reason.endswith(".") for reason in unread.values())
