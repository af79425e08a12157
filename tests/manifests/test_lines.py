import json
from typing import Any

import pytest

import manifests
from manifests.paths import spell, steps_to
from tests.manifests.texts import CLUSTER, QUEUE


def read(text: str) -> manifests.Reading:
    return manifests.read([("cluster.yaml", text.encode())])


YAML_LINES = {
    "nodes[0]": ("cluster.yaml#1", 4),
    "nodes[0].metadata.name": ("cluster.yaml#1", 7),
    "nodes[0].status.allocatable.memory": ("cluster.yaml#1", 9),
    "queues[0].spec.weight": ("cluster.yaml#1", 15),
    "podgroups[0].metadata.namespace": ("cluster.yaml#3", 34),
    "podgroups[0].spec.minMember": ("cluster.yaml#3", 36),
    "scheduler_conf": ("cluster.yaml#2", 23),
    "scheduler_conf.actions": ("cluster.yaml#2", 25),
    "scheduler_conf.tiers[0].plugins[0].name": ("cluster.yaml#2", 28),
}


@pytest.mark.parametrize(("path", "want"), YAML_LINES.items(), ids=YAML_LINES.keys())
def test_a_key_has_its_line_number_in_lists_and_later_documents(path: str, want: tuple[str, int]) -> None:
    assert read(CLUSTER).line_of(path) == want


def test_a_missing_key_has_the_line_of_its_parent() -> None:
    reading = read(CLUSTER)
    assert reading.line_of("queues[0].spec.capability.cpu") == ("cluster.yaml#1", 14)
    assert reading.line_of("queues[7].spec") is None
    assert reading.line_of("nothing.at.all") is None


def test_keys_with_dots_may_be_quoted_or_not() -> None:
    reading = read(QUEUE)
    plain = reading.line_of("queues[0].spec.capability.nvidia.com/gpu")
    assert plain == reading.line_of('queues[0].spec.capability["nvidia.com/gpu"]') == ("cluster.yaml", 9)


def test_a_key_has_its_line_number_in_json_as_printed_by_kubectl() -> None:
    names = ["a", "b", "c"]
    items = [
        {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}, "spec": {"x": [1, 2]}}
        for name in names
    ]
    text = json.dumps({"apiVersion": "v1", "kind": "List", "items": items}, indent=4)
    reading = read(text)
    lines = text.split("\n")
    for index, name in enumerate(names):
        found = reading.line_of(f"nodes[{index}].metadata.name")
        assert found is not None
        assert f'"name": "{name}"' in lines[found[1] - 1]


def test_a_configuration_in_a_json_string_has_the_line_of_that_string() -> None:
    conf = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "volcano-scheduler-configmap"},
        "data": {"volcano-scheduler.conf": "actions: allocate\ntiers: []\n"},
    }
    text = json.dumps(conf, indent=1)
    reading = read(text)
    assert reading.line_of("scheduler_conf.tiers") == (
        "cluster.yaml",
        text[: text.index("volcano-scheduler.conf")].count("\n") + 1,
    )


def test_the_keys_of_a_scenario_have_line_numbers() -> None:
    scenario = {
        "name": "s",
        "queues": {"items": [{"metadata": {"name": "q"}}]},
        "nodes": [],
        "now": "2026-01-01T00:00:00Z",
    }
    text = json.dumps(scenario, indent=1)
    reading = read(text)
    for path, mark in {"now": '"now"', "queues[0].metadata.name": '"q"', "name": '"s"'}.items():
        found = reading.line_of(path)
        assert found is not None
        assert mark in text.split("\n")[found[1] - 1]


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_lines_are_counted_for_either_line_ending(newline: str) -> None:
    assert read(CLUSTER.replace("\n", newline)).line_of("podgroups[0].spec.minMember") == (
        "cluster.yaml#3",
        36,
    )


PATHS: dict[str, tuple[Any, ...]] = {
    "queues[3].spec.weight": ("queues", 3, "spec", "weight"),
    'a["nvidia.com/gpu"][0]': ("a", "nvidia.com/gpu", 0),
    'a["quote \\" and \\\\"]': ("a", 'quote " and \\'),
    "[0].x": (0, "x"),
}


@pytest.mark.parametrize(("spelling", "steps"), PATHS.items(), ids=PATHS.keys())
def test_a_path_is_written_and_parsed_back(spelling: str, steps: tuple[Any, ...]) -> None:
    value: Any = "leaf"
    for step in reversed(steps):
        value = [value] * (step + 1) if isinstance(step, int) else {step: value}
    assert spell(steps) == spelling
    assert steps_to(value, spelling) == steps
