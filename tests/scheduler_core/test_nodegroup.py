"""Plugin nodegroup: the table recorded from the real plugin."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from scheduler_core.framework.session import Session
from tests.builders import Object, conf, node, pod, podgroup, queue, scenario, session_of
from tests.scheduler_core.placing import FITS, answers, reasons, scores

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
NODES = [
    *(node(f"g{n}", cpu=8, labels={"volcano.sh/nodegroup-name": f"g{n}"}) for n in range(1, 6)),
    node("none", cpu=8),
]
SHORT = {
    "node does not satisfy the node group affinity": "UNSAT",
    "node group affinity not specified": "NOAFF",
    "node group label not found": "NOLABEL",
}


def groups(
    required: Sequence[str] = (),
    preferred: Sequence[str] = (),
    unwanted: Sequence[str] = (),
    last: Sequence[str] = (),
) -> Object:
    """Return an affinity: groups that are required, preferred, excluded, and avoided if possible."""
    return {
        "nodeGroupAffinity": {REQUIRED: list(required), PREFERRED: list(preferred)},
        "nodeGroupAntiAffinity": {REQUIRED: list(unwanted), PREFERRED: list(last)},
    }


Q1 = groups(["g1", "g2"], ["g2", "g3"], ["g4", "g1"], ["g4"])
QUEUES = [
    queue("q1", affinity=Q1),
    queue("q2"),
    queue("q3", affinity={}),
    queue("q4", affinity=groups(preferred=["g3", "g1", "g3", "g2"])),
    queue("q5", affinity=groups(unwanted=["g1"], last=["g2"])),
    queue("root", affinity=groups(["g5"])),
    queue("child", parent="q1"),
    queue("orphan", parent="nobody"),
]


def opened(name: str, *, arguments: Object, hierarchy: bool) -> Session:
    plugin = "nodegroup", {"arguments": arguments, "enableHierarchy": hierarchy}
    return session_of(
        scenario(
            nodes=NODES,
            queues=QUEUES,
            podgroups=[podgroup("group", queue=name)],
            pods=[pod("new", group="group", cpu=1)],
            conf=conf("allocate", [plugin]),
        )
    )


def statuses_and_scores(session: Session) -> str:
    """Return the filter status and the score of each node."""
    words = []
    for name, score in scores(session).items():
        codes = answers(session)[name]
        assert codes in (FITS, "3")
        words.append(f"{SHORT[reasons(session, name)[0]] if codes != FITS else FITS}/{score:g}")
    return " ".join(words)


LOOSE = {"strict": False}
ORDERED = {"enablePreferredOrder": True}
NOWHERE = "NOAFF/0 NOAFF/0 NOAFF/0 NOAFF/0 NOAFF/0 "
LIKE_Q1 = "UNSAT/100 ok/150 ok/50 ok/-1 UNSAT/0 NOLABEL/0"
CASES: dict[str, tuple[str, dict[str, Any], str]] = {
    "all four lists": ("q1", {}, LIKE_Q1),
    "no affinity": ("q2", {}, NOWHERE + "NOLABEL/0"),
    "no affinity, not strict": ("q2", {"arguments": LOOSE}, NOWHERE + "ok/0"),
    "empty affinity": ("q3", {}, NOWHERE + "NOLABEL/0"),
    "inherited from root": ("q2", {"hierarchy": True}, "UNSAT/0 UNSAT/0 UNSAT/0 UNSAT/0 ok/100 NOLABEL/0"),
    "empty affinity is not inherited over": ("q3", {"hierarchy": True}, NOWHERE + "NOLABEL/0"),
    "inherited from the parent": ("child", {"hierarchy": True}, LIKE_Q1),
    "not inherited without the switch": ("child", {}, NOWHERE + "NOLABEL/0"),
    "missing parent ends the search": ("orphan", {"hierarchy": True}, NOWHERE + "NOLABEL/0"),
    "preferred groups are allowed": ("q4", {}, "ok/50 ok/50 ok/50 UNSAT/0 UNSAT/0 NOLABEL/0"),
    "preferred groups by order": (
        "q4",
        {"arguments": ORDERED},
        "ok/33.3333 ok/0 ok/16.6667 UNSAT/0 UNSAT/0 NOLABEL/0",
    ),
    "all four lists by order": (
        "q1",
        {"arguments": ORDERED},
        "UNSAT/100 ok/150 ok/25 ok/-1 UNSAT/0 NOLABEL/0",
    ),
    "anti-affinity only": ("q5", {}, "UNSAT/0 ok/-1 UNSAT/0 UNSAT/0 UNSAT/0 NOLABEL/0"),
    "nodes without a label pass if not strict": ("q1", {"arguments": LOOSE}, LIKE_Q1),
}


@pytest.mark.parametrize(("name", "facts", "want"), CASES.values(), ids=CASES.keys())
def test_filter_and_score_of_each_node(name: str, facts: dict[str, Any], want: str) -> None:
    assert statuses_and_scores(opened(name, **{"arguments": {}, "hierarchy": False, **facts})) == want


def test_score_by_preferred_order_is_exact() -> None:
    session = opened("q4", arguments=ORDERED, hierarchy=False)
    assert scores(session)["g1"] == 33.333333333333336
    assert scores(session)["g3"] == 16.666666666666668
