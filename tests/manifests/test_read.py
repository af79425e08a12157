import gzip
import json
from typing import Any

import pytest

import manifests
from tests.manifests.texts import CLUSTER, QUEUE


def read(*texts: str) -> manifests.Reading:
    return manifests.read([(f"file{number}.yaml", text.encode()) for number, text in enumerate(texts, 1)])


def only_problem(reading: manifests.Reading) -> manifests.ReadProblem:
    assert len(reading.problems) == 1, reading.problems
    return reading.problems[0]


def test_a_single_object_is_a_cluster() -> None:
    reading = read(QUEUE)
    assert reading.problems == []
    assert reading.document["queues"][0]["spec"]["capability"] == {"cpu": "8", "nvidia.com/gpu": 2}
    assert reading.counts["queues"] == 1
    assert not reading.is_scenario


def test_lists_documents_and_the_configmap_form_one_cluster() -> None:
    reading = read(CLUSTER)
    assert reading.problems == []
    assert {name: count for name, count in reading.counts.items() if count} == {
        "nodes": 1,
        "queues": 1,
        "podgroups": 1,
    }
    assert reading.document["scheduler_conf"]["tiers"] == [{"plugins": [{"name": "gang"}]}]


def test_the_configuration_is_kept_verbatim() -> None:
    text = read(CLUSTER).scheduler_conf_text
    assert text is not None
    assert text.startswith("# the order matters\n")


def test_files_are_read_in_order() -> None:
    reading = read(QUEUE, CLUSTER)
    assert [queue["metadata"]["name"] for queue in reading.document["queues"]] == ["training", "default"]


def test_concatenated_json_documents_are_read() -> None:
    objects = [
        {"apiVersion": "v1", "kind": kind, "metadata": {"name": kind.lower()}}
        for kind in ("Node", "Namespace")
    ]
    reading = read("\n".join(json.dumps(item, indent=4) for item in objects))
    assert reading.problems == []
    assert (reading.counts["nodes"], reading.counts["namespaces"]) == (1, 1)


def test_yaml_documents_may_follow_json() -> None:
    assert read(
        json.dumps({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}}) + "\n---\n" + QUEUE
    ).counts["queues"]


def test_gzip_files_are_read_with_several_members() -> None:
    packed = gzip.compress(QUEUE.encode()) + gzip.compress(b"---\n" + CLUSTER.encode())
    assert manifests.read([("cluster.yaml.gz", packed)]).counts["queues"] == 2


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_byte_order_marks_are_recognised(encoding: str) -> None:
    assert manifests.read([("queue.yaml", QUEUE.encode(encoding))]).counts["queues"] == 1


def test_a_typed_list_names_the_kind_of_its_items() -> None:
    items = [{"metadata": {"name": "p", "namespace": "team"}}]
    reading = read(json.dumps({"apiVersion": "v1", "kind": "PodList", "items": items}))
    assert reading.problems == []
    assert reading.counts["pods"] == 1


def test_kinds_that_the_scheduler_does_not_read_are_counted_and_skipped() -> None:
    service = "apiVersion: v1\nkind: Service\nmetadata: {name: s}\n"
    batch_job = "apiVersion: batch/v1\nkind: Job\nmetadata: {name: j}\n"
    reading = read("---\n".join([QUEUE, service, service, batch_job]))
    assert reading.problems == []
    assert reading.unknown_kinds == {"batch/v1 Job": 1, "v1 Service": 2}
    assert reading.counts["jobs"] == 0


def test_a_bare_configuration_is_accepted() -> None:
    reading = read(QUEUE, "# mine\nactions: allocate\ntiers: []\n")
    assert reading.problems == []
    assert reading.document["scheduler_conf"] == {"actions": "allocate", "tiers": []}
    assert reading.scheduler_conf_text == "# mine\nactions: allocate\ntiers: []\n"


def test_a_bare_configuration_may_be_json_and_a_duplicate_key_is_a_warning() -> None:
    text = '{"actions": "allocate", "tiers": [],\n "actions": "enqueue"}'
    reading = read(QUEUE, text)
    problem = only_problem(reading)
    assert (problem.rule, problem.severity, problem.line) == ("json.duplicate", "warning", 2)
    assert reading.document["scheduler_conf"] == {"actions": "enqueue", "tiers": []}
    assert reading.scheduler_conf_text == text


def test_a_configmap_of_another_name_is_accepted_with_a_remark() -> None:
    reading = read(CLUSTER.replace("volcano-scheduler-configmap", "integration-scheduler-configmap"))
    assert only_problem(reading).severity == "remark"
    assert reading.document["scheduler_conf"]["actions"] == "enqueue, allocate"


def test_several_configurations_are_an_error() -> None:
    config_map = CLUSTER.split("---\n")[1]
    problem = only_problem(read(CLUSTER, config_map))
    assert (problem.rule, problem.severity, problem.document, problem.line) == (
        "conf.several",
        "error",
        "file2.yaml",
        7,
    )


# One scenario

SCENARIO: dict[str, Any] = {
    "name": "two",
    "scheduler_conf": {"actions": "allocate", "tiers": []},
    "nodes": [{"metadata": {"name": "n1"}}],
    "queues": {"kind": "List", "items": [{"metadata": {"name": "q"}, "spec": {"weight": 2}}]},
    "podgroups": [],
    "pods": None,
    "now": "2026-01-01T00:00:00Z",
    "hypernodes": [{"anything": 1}],
}


def test_a_scenario_is_read_in_its_own_order_with_plain_lists() -> None:
    reading = read(json.dumps(SCENARIO))
    assert reading.problems == []
    assert reading.is_scenario
    assert reading.document == {
        **SCENARIO,
        "queues": [{"metadata": {"name": "q"}, "spec": {"weight": 2}}],
        "pods": [],
    }
    assert reading.scheduler_conf_text is None


def test_a_recorded_scenario_is_unwrapped() -> None:
    line = json.dumps({"scenario": SCENARIO, "result": {"cycles": []}})
    assert read(line).document["name"] == "two"


def test_the_configuration_of_a_scenario_may_be_text_or_a_configmap() -> None:
    text = "actions: allocate\n"
    config_map = {"kind": "ConfigMap", "metadata": {"name": "any"}, "data": {"volcano-scheduler.conf": text}}
    for conf in (text, config_map):
        reading = read(json.dumps({**SCENARIO, "scheduler_conf": conf}))
        assert reading.document["scheduler_conf"] == {"actions": "allocate"}
        assert reading.scheduler_conf_text == text


def test_a_scenario_cannot_be_mixed_with_other_objects() -> None:
    problem = only_problem(read(json.dumps(SCENARIO), QUEUE))
    assert (problem.rule, problem.document, problem.line) == ("form.mixed", "file2.yaml", 1)


def test_two_scenarios_are_an_error() -> None:
    lines = json.dumps(SCENARIO) + "\n" + json.dumps(SCENARIO) + "\n"
    problem = only_problem(read(lines))
    assert (problem.document, problem.line) == ("file1.yaml#2", 2)


def test_a_scenario_list_of_another_type_is_an_error() -> None:
    problem = only_problem(read(json.dumps({**SCENARIO, "queues": "q"}, indent=1)))
    assert (problem.rule, problem.path) == ("form.type", "queues")


def test_an_object_in_the_wrong_list_is_reported() -> None:
    pod = {"kind": "Pod", "metadata": {"name": "p"}}
    problem = only_problem(read(json.dumps({**SCENARIO, "nodes": [pod]})))
    assert problem.message == "nodes contains a Pod"
    assert problem.path == "nodes[0].kind"


# Guarantees to the caller


def test_aliases_in_yaml_become_separate_copies() -> None:
    reading = read(
        QUEUE.replace('cpu: "8"', "&c cpu: 8").replace(
            "weight: 4", "weight: 4\n  deserved: &d {cpu: 1}\n  x: *d"
        )
    )
    spec = reading.document["queues"][0]["spec"]
    assert spec["x"] == spec["deserved"]
    assert spec["x"] is not spec["deserved"]


def test_an_empty_input_is_an_error_that_names_the_skipped_kinds() -> None:
    assert only_problem(read("# only a comment\n")).rule == "form.empty"
    service = "apiVersion: v1\nkind: Service\nmetadata: {name: s}\n"
    assert "v1 Service" in only_problem(read(service)).message


def test_reading_is_deterministic() -> None:
    assert read(CLUSTER).document == read(CLUSTER).document
