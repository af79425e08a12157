"""Does reclaim decide the same when it leaves out nodes where it looked in vain?"""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from scheduler_core import Options, simulate_document

CASES = Path(__file__).parent.parent / "fidelity" / "cases" / "proportion_reclaim.jsonl.gz"
with gzip.open(CASES, "rt") as lines:
    SCENARIOS = [json.loads(line)["scenario"] for line in lines][::4]


@pytest.mark.parametrize("scenario", SCENARIOS, ids=[scenario["name"] for scenario in SCENARIOS])
def test_every_node_is_looked_at_when_refusals_are_explained(scenario: dict[str, object]) -> None:
    short, full = (
        simulate_document(scenario, Options(explain=explain))["cycles"][0] for explain in (False, True)
    )
    for part in ("decisions", "nodes", "podgroups"):
        assert short[part] == full[part]
