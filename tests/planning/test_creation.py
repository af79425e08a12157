"""Objects that a scenario adds are younger than all of its snapshot, as they would be in the cluster."""

import json
from typing import Any

import pytest

from planning.contents import frozen_input
from planning.queues import Queue, queues_of
from planning.states import State
from tests.builders import Object, at, node, podgroup, queue, scenario


def frozen(document: Object, state: State) -> Any:
    return json.loads(frozen_input(document, name="a", state=state))


def times(things: list[Object]) -> dict[str, str | None]:
    return {thing["metadata"]["name"]: thing["metadata"].get("creationTimestamp") for thing in things}


@pytest.mark.parametrize(("clock", "time"), [({"now": at(7200)}, at(7200)), ({}, at(61))])
def test_added_queues_and_objects_are_created_after_all_others(clock: Object, time: str) -> None:
    document = scenario(
        nodes=[node("n0", cpu=1)], queues=[queue("old", created=5)], podgroups=[podgroup("run", created=60)]
    )
    document = {key: value for key, value in document.items() if key != "now"} | clock
    state = State(conf_text="", queues={row.name: row for row in queues_of(document["queues"])})
    state.queues["new"] = Queue("new", position=1)
    state.queues["default"] = Queue("default", position=2)
    bare = {"metadata": {"name": "more", "namespace": "ml"}, "spec": {"queue": "new"}}
    dated = {"metadata": {"name": "dated", "namespace": "ml", "creationTimestamp": at(9)}, "spec": {}}
    state.objects = {("podgroups", "ml/more"): bare, ("podgroups", "ml/dated"): dated}
    result = frozen(document, state)
    assert times(result["queues"]) == {"old": at(5), "new": time, "default": None}
    assert times(result["podgroups"]) == {"run": at(60), "dated": at(9), "more": time}


def test_nothing_is_dated_where_no_object_has_a_time() -> None:
    document = {"queues": [{"metadata": {"name": "old"}}]}
    state = State(conf_text="", queues={row.name: row for row in queues_of(document["queues"])})
    state.queues["new"] = Queue("new", position=1)
    assert times(frozen(document, state)["queues"]) == {"old": None, "new": None}
