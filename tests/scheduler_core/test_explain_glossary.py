"""The glossary lists exactly the reasons that exist."""

from __future__ import annotations

import re

import pytest

from scheduler_core.explain import REASONS
from scheduler_core.explain.effects import effect_text
from scheduler_core.explain.reasons import reason
from tests.shared import ROOT

_ROW = re.compile(r"^\| (`[^|]+`) \|", re.MULTILINE)


def test_glossary_lists_exactly_the_existing_reasons() -> None:
    text = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
    section = text.split("\n## Reasons\n")[1].split("\n## ")[0]
    actual = [name for cell in _ROW.findall(section) for name in re.findall(r"`([^`]+)`", cell)]
    assert sorted(actual) == sorted(REASONS)


def test_reason_outside_the_vocabulary_raises() -> None:
    with pytest.raises(AssertionError):
        reason("gate.nonsense", "No.")


def test_effect_text_states_pods_placed_instead_of_pipelined() -> None:
    unchanged = {"before": "Inqueue", "after": "Inqueue"}
    placed, pipelined = {"before": 0, "after": 8}, {"before": 8, "after": 0}
    entry = {"job": "a/b", "placed": placed, "pipelined": pipelined, "elsewhere": 0, "phase": unchanged}
    actual = effect_text({"evicted": [], "spared": [], "repeated": [], "changed": [entry]})
    assert actual == "a/b has 8 placed and 0 pipelined pods instead of 0 and 8"


def test_a_pod_that_is_evicted_more_often_is_a_side_effect() -> None:
    pod = {"pod": "ns/p", "job": "ns/j", "queue": "q"}
    effect = {"evicted": [], "spared": [], "changed": [], "repeated": [{**pod, "before": 1, "after": 3}]}
    assert effect_text(effect) == "1 pod would be evicted more often (3 evictions instead of 1)"
