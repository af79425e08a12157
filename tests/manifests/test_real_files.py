"""Published files, including broken ones, are read or refused with the reason."""

import csv
import gzip
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

import manifests

UNREADABLE = {
    "volcano-docs/design_job-api__06.yaml": 8,
    "volcano-docs/design_job-api__07.yaml": 10,
    "volcano-docs/design_multi-volcano-schedulers__02.yaml": 7,
    "volcano-docs/design_queue-guarantee-resource-reservation-design__00.yaml": 9,
    "volcano-docs/design_task-launch-order-within-job__00.yaml": 7,
    "volcano-docs/design_task-launch-order-within-job__01.yaml": 7,
    "volcano-docs/user-guide_how_to_use_nodegroup_plugin__02.yaml": 2,
    "volcano-docs/user-guide_how_to_use_svc_plugin__01.yaml": 34,
    "volcano-website/ruitian-en__00.yaml": 9,
    "volcano-website/ruitian-en__01.yaml": 9,
    "volcano-website/Concepts_VolcanoJob__02.yaml": 32,
    "nvidia-knavigator/templates_volcano_job.yaml": 40,
}
"""The published files that are not valid YAML, with the line of the syntax error."""

NAMELESS = {
    "apache-spark/spark_driver-podgroup-template-memory-3g.yaml",
    "apache-spark/spark_high-priority-driver-podgroup-template.yaml",
    "volcano-docs/design_sla-plugin__00.yaml",
    "volcano-docs/user-guide_how_to_use_job_ttl__00.yaml",
}
MISNAMED = {"volcano-docs/design_Network_Topology_Aware_Scheduling__07.yaml"}
"""Its name is a placeholder in angle brackets, which the API server would refuse."""


def index(folder: Path) -> Iterator[tuple[str, dict[str, str]]]:
    with (folder / "INDEX.csv").open(newline="") as rows:
        for row in csv.DictReader(rows):
            yield row["file"], row


@pytest.fixture(scope="module")
def published(shared: Path) -> dict[str, manifests.Reading]:
    folder = shared / "data" / "volcano-yaml"
    return {name: manifests.read([(name, (folder / name).read_bytes())]) for name, _ in index(folder)}


def test_every_published_file_is_available(published: dict[str, manifests.Reading]) -> None:
    assert len(published) == 140
    assert UNREADABLE.keys() <= published.keys()


def test_invalid_yaml_is_reported_with_its_line(published: dict[str, manifests.Reading]) -> None:
    found = {
        name: problem.line
        for name, reading in published.items()
        for problem in reading.problems
        if problem.rule == "yaml.syntax"
    }
    assert found == UNREADABLE


def test_every_other_file_is_read_or_refused_with_a_line_and_a_fix(
    published: dict[str, manifests.Reading],
) -> None:
    refused = {name: reading for name, reading in published.items() if reading.has_errors}
    for name in refused.keys() - UNREADABLE.keys():
        for problem in refused[name].problems:
            assert problem.message
            assert problem.fix
            assert problem.line is not None


def test_unnamed_objects_are_reported(
    published: dict[str, manifests.Reading],
) -> None:
    nameless = {
        name
        for name, reading in published.items()
        if any(problem.rule == "form.name" for problem in reading.problems)
    }
    assert nameless == NAMELESS | MISNAMED


def test_every_object_is_read_or_listed_as_skipped(
    shared: Path, published: dict[str, manifests.Reading]
) -> None:
    for name, row in index(shared / "data" / "volcano-yaml"):
        reading = published[name]
        verdict, _, objects = row["parses"].partition(":")
        if verdict == "ok" and not reading.has_errors:
            assert sum(reading.counts.values()) + sum(reading.unknown_kinds.values()) == int(objects), name


def test_every_published_configuration_is_read_or_refused_with_a_line(shared: Path) -> None:
    folder = shared / "data" / "scheduler-conf"
    unreadable = 0
    for name, row in index(folder):
        text = (folder / name).read_text()
        errors = [found for found in manifests.conf_problems(text) if found.severity == "error"]
        unreadable += bool(errors)
        if row["parses"].startswith("ok"):
            assert errors == [], name
            assert isinstance(manifests.parse_conf(text).get("tiers", []), list)
        else:
            assert all(found.line for found in errors)
    assert unreadable < 10


# openb


def test_the_openb_scenario_is_read_unchanged(shared: Path) -> None:
    content = (shared / "data" / "openb" / "scenarios" / "openb-small.json").read_bytes()
    reading = manifests.read([("openb-small.json", content)])
    assert reading.problems == []
    assert reading.document == json.loads(content)


def test_the_published_openb_nodes_are_read_from_gzip(shared: Path) -> None:
    content = (shared / "data" / "openb" / "openb_node_list_gpu_node.yaml.gz").read_bytes()
    reading = manifests.read([("nodes.yaml.gz", content)])
    assert reading.problems == []
    assert reading.counts["nodes"] == 1213
    found = reading.line_of("nodes[1212].metadata.name")
    assert found is not None
    name = reading.document["nodes"][1212]["metadata"]["name"]
    assert gzip.decompress(content).decode().split("\n")[found[1] - 1] == f"  name: {name}"


def test_line_numbers_are_correct_after_ten_megabytes(shared: Path) -> None:
    packed = (shared / "data" / "openb" / "scenarios" / "openb-burst-qos.json.gz").read_bytes()
    burst = json.loads(gzip.decompress(packed))
    items = [item for name in ("nodes", "queues", "podgroups", "pods") for item in burst[name]]
    text = json.dumps({"apiVersion": "v1", "kind": "List", "items": items}, indent=1)
    # JSON is also YAML: after a document marker the YAML reader reads it.
    for name, written in (("burst.json", text), ("burst.yaml", f"--- # export\n{text}")):
        reading = manifests.read([(name, written.encode())])
        assert reading.problems == []
        assert (reading.counts["nodes"], reading.counts["pods"]) == (1523, 8152)
        assert all(reading.document[kind] == burst[kind] for kind in ("nodes", "queues", "podgroups", "pods"))
        found = reading.line_of("pods[8151].metadata.name")
        assert found is not None
        assert burst["pods"][8151]["metadata"]["name"] in written.split("\n")[found[1] - 1]
