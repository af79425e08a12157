"""Findings about a snapshot's lists are cached; after an edit the problems equal those of a new review."""

import random
from typing import Any

import pytest

from scheduler_core.lint import review
from scheduler_core.validate import Inspection
from tests import factories

EDITS = ("close", "remove", "parent", "weight", "conf", "node", "podgroup", "class")


def conf(plugin: str, **options: Any) -> dict[str, Any]:
    plugins = [{"name": "gang"}, {"name": plugin, **options}, {"name": "predicates"}]
    return {"actions": "enqueue, allocate, reclaim", "tiers": [{"plugins": plugins}]}


def document() -> dict[str, Any]:
    found = factories.cluster(waiting=6)
    found["podgroups"][0]["spec"]["priorityClassName"] = "gone"
    found["pods"][0]["spec"]["nodeName"] = "n9"
    found["pods"][1]["metadata"]["annotations"][factories.GROUP] = "nobody"
    return {**found, "scheduler_conf": conf("proportion"), "priorityclasses": []}


def edited(of: dict[str, Any], kind: str, dice: random.Random) -> dict[str, Any]:
    """Return the document with one list changed; all other lists are the very same."""
    queues = list(of["queues"])
    at = dice.randrange(len(queues))
    queue = queues[at]
    if kind == "conf":
        return {**of, "scheduler_conf": conf("capacity", enableHierarchy=True)}
    if kind == "node":
        return {**of, "nodes": of["nodes"][1:]}
    if kind == "podgroup":
        return {**of, "podgroups": of["podgroups"][1:]}
    if kind == "class":
        return {**of, "priorityclasses": [{"metadata": {"name": "gone"}, "value": 5}]}
    if kind == "remove":
        del queues[at]
    else:
        more = {"parent": {"parent": queues[at - 1]["metadata"]["name"]}, "weight": {"weight": 70_000}}
        spec, state = {**queue["spec"], **more.get(kind, {})}, "Closed" if kind == "close" else "Open"
        queues[at] = {**queue, "spec": spec, "status": {"state": state}}
    return {**of, "queues": queues}


@pytest.mark.parametrize("seed", range(12))
def test_review_of_an_edit_equals_a_review_without_a_cache(seed: int) -> None:
    dice, present = random.Random(seed), document()
    kept = Inspection(present)
    rules = {problem.rule for problem in review(present, kept)}
    assert {"class.missing", "pod.node_missing", "pod.podgroup_missing"} <= rules
    for kind in dice.sample(EDITS, len(EDITS)):
        present = edited(present, kind, dice)
        assert review(present, kept) == review(present)
