"""Importing files into a scenario, and freezing it into an equivalent input."""

import gzip
import json
from datetime import datetime, timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

import manifests
from planner.accounts.models import Workspace
from planner.clusters.models import Snapshot
from planner.clusters.selectors.demand import demand_counted, demand_key
from planner.clusters.services.imports import cluster_read
from planner.clusters.services.snapshots import cluster_import
from planner.scenarios.models import Scenario
from planner.scenarios.selectors.scenarios import document_of_scenario
from planner.scenarios.services.scenarios import scenario_create
from planning.demands import demand_of, plain
from planning.importing import read_cluster
from scheduler_core import encode, simulate_document
from tests import factories

NOW = "2026-03-02T09:30:00Z"

CONFIG_MAP = """\
apiVersion: v1
kind: ConfigMap
metadata:
  name: volcano-scheduler-configmap
data:
  volcano-scheduler.conf: |
    # as it is
    actions: "enqueue, allocate"
    tiers:
    - plugins:
      - name: gang
"""


def objects_of(document: dict[str, Any]) -> str:
    """Return a scenario's objects as kubectl prints them: one List."""
    items = [item for value in document.values() if isinstance(value, list) for item in value]
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": items}, indent=4)


# Reading


def test_a_live_export_takes_the_time_of_the_import() -> None:
    read = read_cluster([("cluster.json", objects_of(factories.cluster()).encode())], now=NOW)
    assert read.document["now"] == NOW
    assert not read.has_errors


@pytest.mark.parametrize(("minutes", "is_old"), [(9, False), (11, True)])
def test_an_old_export_keeps_the_time_that_its_heartbeats_show(minutes: int, is_old: bool) -> None:
    exported = (datetime.fromisoformat(NOW) - timedelta(minutes=minutes)).strftime("%Y-%m-%dT%H:%M:%SZ")
    cluster = factories.cluster()
    cluster["nodes"][0]["status"]["conditions"] = [
        {"type": "Ready", "status": "True", "lastHeartbeatTime": exported}
    ]
    read = read_cluster([("cluster.json", objects_of(cluster).encode())], now=NOW)
    assert read.document["now"] == (exported if is_old else NOW)
    told = [problem for problem in read.problems if problem.rule == "clock.exported"]
    assert [problem.message for problem in told] == [
        "The objects were exported 11 min before the import, as their newest heartbeats and pods show."
    ] * is_old


@pytest.mark.parametrize(
    ("version", "kind", "rule", "message"),
    [
        (
            "topology.volcano.sh/v1alpha1",
            "HyperNode",
            "kind.not_modelled",
            "reads this kind, but it is not modelled",
        ),
        (
            "v1",
            "PersistentVolumeClaim",
            "kind.not_modelled",
            "Volume binding, zones and limits rule out no node.",
        ),
        ("v1", "Service", "kind.left_out", "only to spread pods over nodes"),
        ("v1", "LimitRange", "kind.left_out", "lack the requests that it would set."),
        ("v1", "ConfigMap", "kind.left_out", "the scheduler does not read this kind."),
        ("batch.volcano.sh/v1alpha1", "CronJob", "kind.left_out", "only if its trace contains them."),
        ("batch/v1", "Job", "kind.left_out", "the scheduler does not read this kind."),
    ],
)
def test_left_out_kinds_say_what_results_lack(version: str, kind: str, rule: str, message: str) -> None:
    more = {"apiVersion": version, "kind": kind, "metadata": {"name": "a"}}
    files = [
        ("cluster.json", objects_of(factories.cluster()).encode()),
        ("a.json", json.dumps(more).encode()),
    ]
    [problem] = [one for one in read_cluster(files, now=NOW).problems if one.rule.startswith("kind.")]
    assert problem.rule == rule
    assert message in problem.message


def test_a_pod_of_a_live_cluster_without_podgroup_gets_one_as_from_the_controller() -> None:
    cluster = factories.cluster(waiting=1)
    assert "controllers" not in read_cluster([("a.json", objects_of(cluster).encode())], now=NOW).document
    plain = cluster["pods"][-1]
    del plain["metadata"]["annotations"]
    plain["spec"]["schedulerName"] = "volcano"
    read = read_cluster([("a.json", objects_of(cluster).encode())], now=NOW)
    assert read.document["controllers"] is True
    assert not [one for one in read.problems if one.rule == "pod.no_podgroup"]
    notes = simulate_document({**read.document, "scheduler_conf": manifests.parse_conf(factories.CONF)})[
        "notes"
    ]
    assert "Added: 1 PodGroup for pods that belong to none." in notes
    scenario = read_cluster([("a.json", json.dumps(cluster).encode())], now=NOW)
    assert [one.message for one in scenario.problems if one.rule == "pod.no_podgroup"] == [
        "pod default/wait-0 names no podgroup: the scheduler ignores it until Volcano's controller has"
        " created one"
    ]
    plain["status"] = {"phase": "Succeeded"}
    assert "controllers" not in read_cluster([("a.json", objects_of(cluster).encode())], now=NOW).document


def test_a_scenario_without_a_clock_gets_none() -> None:
    scenario = json.dumps(factories.cluster()).encode()
    assert "now" not in read_cluster([("scenario.json", scenario)], now=NOW).document


def test_the_scheduler_configuration_is_kept_verbatim_apart_from_the_document() -> None:
    cluster = objects_of(factories.cluster()).encode()
    read = read_cluster([("cluster.json", cluster), ("scheduler.yaml", CONFIG_MAP.encode())], now=NOW)
    assert "scheduler_conf" not in read.document
    assert (
        read.scheduler_conf
        == '# as it is\nactions: "enqueue, allocate"\ntiers:\n- plugins:\n  - name: gang\n'
    )


def test_a_structured_configuration_becomes_equivalent_text() -> None:
    conf = {"actions": "allocate", "tiers": [{"plugins": [{"name": "drf", "enableHierarchy": True}]}]}
    scenario = json.dumps({**factories.cluster(), "scheduler_conf": conf}).encode()
    read = read_cluster([("scenario.json", scenario)], now=NOW)
    assert manifests.parse_conf(read.scheduler_conf) == conf


def test_a_cluster_without_a_configuration_has_an_empty_one() -> None:
    read = read_cluster([("cluster.json", objects_of(factories.cluster()).encode())], now=NOW)
    assert read.scheduler_conf == ""


def test_a_configuration_that_volcano_rejects_is_imported_with_a_warning() -> None:
    conf = CONFIG_MAP.replace("enqueue, allocate", "enqueue, reserve")
    cluster = objects_of(factories.cluster()).encode()
    read = read_cluster([("cluster.json", cluster), ("scheduler.yaml", conf.encode())], now=NOW)
    (problem,) = read.problems
    assert (problem.rule, problem.severity) == ("conf.unknown_action", "warning")
    assert (problem.document, problem.line) == ("scheduler.yaml", 8)


def test_dangling_references_are_warnings_with_their_line() -> None:
    document = factories.cluster()
    document["queues"][0]["spec"]["parent"] = "gone"
    document["podgroups"][1]["spec"]["queue"] = "lost"
    text = objects_of(document)
    read = read_cluster([("cluster.json", text.encode())], now=NOW)
    found = {problem.path: problem.line for problem in read.problems if problem.severity == "warning"}
    assert found.keys() == {"queues[0].spec.parent", "podgroups[1].spec.queue"}
    for path, word in zip(found, ("gone", "lost"), strict=True):
        line = found[path]
        assert line is not None
        assert word in text.split("\n")[line - 1]


def test_a_cycle_of_parents_is_a_warning_on_each_of_its_queues() -> None:
    document = factories.cluster()
    for queue, parent in zip(document["queues"], ("waits", "busy"), strict=True):
        queue["spec"]["parent"] = parent
    read = read_cluster([("cluster.json", objects_of(document).encode())], now=NOW)
    circles = [problem for problem in read.problems if problem.rule == "queue.cycle"]
    assert [problem.severity for problem in circles] == ["warning", "warning"]
    assert not read.has_errors


def test_a_value_that_exceeds_its_column_is_an_error() -> None:
    document = factories.cluster()
    document["queues"][0]["status"]["state"] = "x" * 1000
    read = read_cluster([("cluster.json", objects_of(document).encode())], now=NOW)
    assert read.has_errors


def test_the_first_page_of_an_imported_cluster_need_not_count_its_demand(db: None, tmp_path: Path) -> None:
    path = tmp_path / "cluster.json"
    path.write_text(objects_of(factories.cluster()))
    call_command("import_cluster", str(path), stdout=StringIO())
    content = Snapshot.objects.get().content
    known = demand_counted(demand_key(content.pk), unread)
    assert plain(known) == plain(demand_of(content.document()))


def unread() -> dict[str, Any]:
    """Fail, as the demand is already known."""
    raise AssertionError("the objects were read again")


# Round trip


def through_the_database(scenario: dict[str, Any]) -> dict[str, Any]:
    """Return the frozen input of a scenario that was imported and not edited."""
    name = scenario.get("name", "imported")
    read = cluster_read([("scenario.json", json.dumps(scenario).encode())])
    snapshot = cluster_import(read=read, workspace=factories.workspace(), name=name, provenance="test")
    made = scenario_create(snapshot=snapshot, name=name)
    document: dict[str, Any] = manifests.resolve(json.loads(document_of_scenario(made)))
    return document


@pytest.mark.parametrize("family", ["worked", "hdrf", "published_confs"])
def test_an_unedited_scenario_simulates_to_the_same_bytes(db: None, shared: Path, family: str) -> None:
    with gzip.open(shared / "golden" / f"{family}.jsonl.gz") as lines:
        recorded = [json.loads(line)["scenario"] for _, line in zip(range(12), lines, strict=False)]
    for scenario in recorded:
        frozen = through_the_database(scenario)
        assert frozen.keys() - {"name"} == scenario.keys() - {"name"}
        assert encode(simulate_document(frozen)) == encode(simulate_document(manifests.resolve(scenario)))


def test_fields_without_a_column_are_preserved(db: None) -> None:
    document = factories.cluster()
    document["queues"][0]["spec"]["extendClusters"] = [{"name": "other", "weight": 3}]
    document["queues"][0]["metadata"]["finalizers"] = ["keep"]
    document["hypernodes"] = [{"metadata": {"name": "s0"}}]
    assert through_the_database(document)["queues"][0] == document["queues"][0]
    assert through_the_database(document)["hypernodes"] == document["hypernodes"]


# The command


def run_command(*files: Path, **options: Any) -> tuple[str, str]:
    out, errors = StringIO(), StringIO()
    call_command("import_cluster", *map(str, files), stdout=out, stderr=errors, **options)
    return out.getvalue(), errors.getvalue()


@pytest.fixture
def cluster_file(tmp_path: Path) -> Path:
    path = tmp_path / "cluster.json"
    path.write_text(objects_of(factories.cluster()))
    return path


def test_the_import_command_creates_a_snapshot_and_its_first_scenario(db: None, cluster_file: Path) -> None:
    out, errors = run_command(cluster_file)
    scenario = Scenario.objects.get()
    assert scenario.name == "cluster.json"
    assert f"scenario {scenario.pk}" in out
    assert "2 nodes" in out
    assert errors == ""


def test_the_import_command_accepts_several_files_and_a_name(
    db: None, cluster_file: Path, tmp_path: Path
) -> None:
    conf = tmp_path / "scheduler.yaml"
    conf.write_text(CONFIG_MAP)
    run_command(cluster_file, conf, name="production")
    snapshot = Snapshot.objects.get()
    assert (snapshot.name, snapshot.provenance) == ("production", "cluster.json, scheduler.yaml")
    assert snapshot.scheduler_conf.startswith("# as it is")


def test_the_import_command_prints_every_problem_and_saves_nothing(db: None, tmp_path: Path) -> None:
    broken = tmp_path / "broken.yaml"
    broken.write_text("apiVersion: v1\nkind: Node\nmetadata: {}\n---\na: *\n")
    errors = StringIO()
    with pytest.raises(CommandError, match="2 problems to fix"):
        call_command("import_cluster", str(broken), stdout=StringIO(), stderr=errors)
    lines = errors.getvalue().splitlines()
    assert [line.split(": ")[0] for line in lines] == [f"{broken}#1:3", f"{broken}#2:5"]
    assert not Snapshot.objects.exists()


def test_the_import_command_reports_a_missing_file_or_workspace(
    db: None, cluster_file: Path, tmp_path: Path
) -> None:
    with pytest.raises(CommandError, match="No such file"):
        run_command(tmp_path / "missing.yaml")
    with pytest.raises(CommandError, match="No workspace 'other'"):
        run_command(cluster_file, workspace="other")


def test_the_import_command_accepts_another_workspace(db: None, cluster_file: Path) -> None:
    other = Workspace.objects.create(name="other")
    run_command(cluster_file, workspace="other")
    assert Snapshot.objects.get().workspace == other


def test_the_import_command_reads_openb_and_a_published_manifest(db: None, shared: Path) -> None:
    out, _ = run_command(shared / "data" / "openb" / "scenarios" / "openb-small.json")
    assert "327 pods" in out
    out, _ = run_command(
        shared / "data" / "volcano-yaml" / "volcano-examples" / "hierarchical-jobs_queues.yaml"
    )
    assert "4 queues" in out


def test_the_events_of_a_replay_that_lost_parts_are_counted() -> None:
    pods = [factories.pod("a-0", "a"), factories.pod("a-1", "a")]
    pods[0]["metadata"]["annotations"]["team.example/token"] = "planted"
    events = [{"at": number, "create": {"pods": [pod]}} for number, pod in enumerate(pods)]
    document = {
        **factories.cluster(),
        "replay": {"period_seconds": 1, "horizon_seconds": 9, "events": events},
    }
    read = read_cluster([("scenario.json", json.dumps(document).encode())], now=NOW)
    assert [problem.message for problem in read.problems if problem.rule == "secret.left_out"] == [
        "events of the replay: of 1 of them, parts that the scheduler does not read were removed before "
        "anything was stored."
    ]
