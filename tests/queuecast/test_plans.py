"""Scenarios in files: planned, compared, applied twice, and exported again."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from planning.queues import merge_patch
from queuecast.__main__ import main
from queuecast.effects import changes
from queuecast.job_parts import parts_of
from queuecast.plan_export import patch_between, plan_of, unsaid
from tests import factories

PLAN = """\
name: more
snapshot: {files: [cluster.json], name: prod}
apply: [queues]
queues:
  busy:
    weight: 3
nodes:
  add:
  - {like: n0, count: 2, prefix: spare}
  remove: [n1]
jobs:
  remove: [default/wait]
assert:
- max_evictions: 50
- no_victim_in: team
"""
QUEUE = """\
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {name: team}
spec: {weight: 2, parent: root}
"""


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a cluster, a queue in a file, and a plan."""
    monkeypatch.chdir(tmp_path)
    cluster = {**factories.cluster(), "scheduler_conf": factories.CONF}
    (tmp_path / "cluster.json").write_text(json.dumps(cluster))
    (tmp_path / "queues").mkdir()
    (tmp_path / "queues" / "team.yaml").write_text(QUEUE)
    (tmp_path / "plan.yaml").write_text(PLAN)
    return tmp_path


def json_output(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> Any:
    capsys.readouterr()
    assert main([*words, "--local", "-o", "json"]) == code
    return json.loads(capsys.readouterr().out)


def error_output(capsys: pytest.CaptureFixture[str], plan: str) -> str:
    Path("plan.yaml").write_text(plan)
    assert main(["plan", "-f", "plan.yaml", "--local"]) == 2
    return capsys.readouterr().err


def test_a_plan_shows_its_effects_and_stores_nothing(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["plan", "-f", "plan.yaml", "--local", "--report", "json"]) == 0
    report = json.loads(capsys.readouterr().out)
    changed = {(one["kind"], one["name"], one["field"]) for one in report["changes"]}
    assert {("queues", "busy", "spec.weight"), ("queues", "team", ""), ("nodes", "spare-1", "")} <= changed
    assert {("nodes", "n1", ""), ("podgroups", "default/wait", "")} <= changed
    assert [step["queue"] for step in report["steps"]] == ["busy", "team"]
    assert [rule["status"] for rule in report["rules"]] == ["kept", "kept"]
    assert not (repository / ".queuecast").exists()
    assert main(["plan", "-f", "plan.yaml", "--local", "--report", "markdown"]) == 0
    page = capsys.readouterr().out
    assert "#### Steps that the webhook accepts" in page
    assert "| queues | busy | spec.weight | 1 | 3 |" in page


def test_applying_a_plan_twice_changes_nothing_the_second_time(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first = json_output(capsys, "apply", "-f", "plan.yaml")
    again = json_output(capsys, "apply", "-f", "plan.yaml")
    assert (first["status"], again["status"]) == ("created", "unchanged")
    assert first["run"]["id"] == again["run"]["id"]
    assert first["report"] == again["report"]
    assert [one["name"] for one in json_output(capsys, "snapshot", "list")] == ["prod"]
    (repository / "plan.yaml").write_text(PLAN.replace("weight: 3", "weight: 5"))
    third = json_output(capsys, "apply", "-f", "plan.yaml")
    assert (third["status"], third["scenario"]["revision"]) == ("changed", 2)
    assert third["run"]["id"] != first["run"]["id"]


def test_diff_exits_with_1_while_the_scenario_differs_from_the_plan(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert json_output(capsys, "diff", "-f", "plan.yaml", "--exit-code", code=1)
    json_output(capsys, "apply", "-f", "plan.yaml", "--no-run")
    assert json_output(capsys, "diff", "-f", "plan.yaml", "--exit-code") == []
    assert main(["queue", "set", "more", "busy", "weight=9", "--local"]) == 0
    (found,) = json_output(capsys, "diff", "-f", "plan.yaml", "--exit-code", code=1)
    assert (found["name"], found["field"], found["before"], found["after"]) == ("busy", "spec.weight", 9, 3)


def test_apply_and_plan_exit_with_1_for_a_broken_rule(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (repository / "plan.yaml").write_text(PLAN + "- job_runs: default/nobody\n")
    assert main(["plan", "-f", "plan.yaml", "--local"]) == 1
    assert main(["apply", "-f", "plan.yaml", "--local"]) == 1
    assert "no such job: default/nobody" in capsys.readouterr().out


def test_applying_an_exported_plan_gives_the_same_scenario(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for words in (
        ["import", "cluster.json", "--name", "prod"],
        ["scenario", "create", "by hand", "--snapshot", "prod"],
        ["queue", "set", "by hand", "waits", "weight=4", "capability.cpu=", "state=Closed"],
        ["queue", "add", "by hand", "team", "weight=2"],
        ["job", "add", "by hand", "ml/big", "--queue", "team", "--cpu", "2"],
    ):
        assert main([*words, "--local"]) == 0
    capsys.readouterr()
    assert main(["scenario", "export", "by hand", "--plan", "--local"]) == 0
    written = capsys.readouterr().out
    assert yaml.safe_load(written)["snapshot"] == "prod"
    (repository / "again.yaml").write_text(written)
    assert json_output(capsys, "diff", "-f", "again.yaml", "--exit-code") == []
    (repository / "again.yaml").write_text(written.replace("name: by hand", "name: twin"))
    json_output(capsys, "apply", "-f", "again.yaml", "--no-run")
    kept = [json.loads((repository / ".queuecast" / "scenarios" / f"{name}.json").read_text())["document"]
            for name in ("by%20hand", "twin")]  # fmt: skip
    assert [one["spec"] for one in kept[0]["queues"]] == [one["spec"] for one in kept[1]["queues"]]
    assert kept[0]["jobs"] == kept[1]["jobs"]


CLUSTER = {
    **factories.cluster(),
    "queues": [factories.queue("a"), factories.queue("b", parent="a"), factories.queue("c", parent="b")],
    "jobs": [
        {
            "apiVersion": "batch.volcano.sh/v1alpha1",
            "kind": "Job",
            "metadata": {"name": "train", "namespace": "default", "uid": "1"},
            "spec": {"queue": "c", "tasks": []},
        }
    ],
    "podgroups": [factories.podgroup("train-1", "c")],
    "pods": [factories.pod("train-0", "train-1")],
}
"""A chain of queues, and a job whose PodGroup carries its name and uid."""


def test_an_empty_part_of_a_queue_is_no_difference() -> None:
    planned = {"queues": [{"metadata": {"name": "a", "annotations": {}}, "spec": {"weight": 1}}]}
    kept = {"queues": [{"metadata": {"name": "a"}, "spec": {"weight": 1}, "status": {}}]}
    assert changes(kept, planned) == []


def test_a_podgroup_belongs_to_the_job_that_its_name_carries() -> None:
    assert parts_of(CLUSTER, "default/train") == {
        "jobs": {("default", "train")},
        "podgroups": {("default", "train-1")},
        "pods": {("default", "train-0")},
    }
    assert parts_of(CLUSTER, "train-1").keys() == {"podgroups", "pods"}
    assert parts_of(CLUSTER, "train-2") == {}


@pytest.mark.parametrize(
    "changes",
    [
        {"queues": [factories.queue("a")]},
        {"queues": []},
        {
            "queues": [
                factories.queue("a", parent="c"),
                factories.queue("b"),
                factories.queue("c", parent="b"),
            ]
        },
        {"jobs": [], "podgroups": [], "pods": []},
    ],
)
def test_a_plan_removes_subtrees_and_jobs_and_reverses_the_tree_in_one_edit(changes: dict[str, Any]) -> None:
    after = {**CLUSTER, **changes}
    assert unsaid(plan_of("x", "prod", CLUSTER, after), CLUSTER, after) == []


@pytest.mark.parametrize(
    ("before", "after", "line", "says"),
    [
        ("weight: 3", "wieght: 3", 6, "Fix: write 'weight'"),
        ("weight: 3", "weight: 0", 6, "the CRD takes 1 to 65535"),
        ("  busy:", "  bsuy:", 5, "Did you mean 'busy'?"),
        ("like: n0", "like: n00", 9, "there is no node 'n00'"),
        ("remove: [n1]", "remove: [n7]", 10, "there is no node 'n7'"),
        ("default/wait", "default/wiat", 12, "write 'default/wait'"),
        ("count: 2", "count: many", 9, "is 'many', not a whole number"),
        ("max_evictions: 50", "max_evictions: lots", 14, "not a whole number"),
        ("no_victim_in: team", "no_victim_in: taem", 15, "write 'team'"),
        ("  busy:\n    weight: 3", "  busy: [3]", 5, "queues.busy is [3], not a mapping or null"),
        ("jobs:", "jbos:", 11, "jbos is not a key here. Fix: write 'jobs'"),
    ],
)
def test_every_problem_of_a_plan_has_its_line(
    repository: Path, capsys: pytest.CaptureFixture[str], before: str, after: str, line: int, says: str
) -> None:
    output = error_output(capsys, PLAN.replace(before, after))
    assert f"plan.yaml:{line}: error:" in output
    assert says in output


def test_all_problems_of_a_plan_are_reported_at_once(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = error_output(capsys, PLAN.replace("weight: 3", "weight: 0").replace("[n1]", "[n7]"))
    assert output.startswith("2 problems to fix")
    named = PLAN.replace("default/wait", "default/none").replace("no_victim_in: team", "no_victim_in: x")
    output = error_output(capsys, named)
    assert output.startswith("2 problems to fix")
    assert "Fix: write one of busy, default, root, team, waits." in output


def test_a_problem_in_a_file_of_a_plan_has_the_line_of_that_file(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (repository / "queues" / "team.yaml").write_text(QUEUE.replace("parent: root", "capability: {cpu: x}"))
    assert "queues/team.yaml:4: error:" in error_output(capsys, PLAN)


def test_the_change_of_a_plan_is_linted(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plan = PLAN.replace("weight: 3", "deserved: {cpu: 8}\n    capability: {cpu: 4}")
    (repository / "plan.yaml").write_text(plan)
    assert main(["plan", "-f", "plan.yaml", "--local"]) == 1
    assert "plan.yaml:6: error: queue busy: spec.deserved.cpu" in capsys.readouterr().out


TREES: Any = st.recursive(
    st.integers() | st.text(max_size=3) | st.booleans(),
    lambda inner: st.dictionaries(st.sampled_from("abcd"), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.sampled_from("abcd"), TREES), st.dictionaries(st.sampled_from("abcd"), TREES))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_merge_patch_turns_one_value_into_the_other(before: dict[str, Any], after: dict[str, Any]) -> None:
    assert merge_patch(before, patch_between(before, after)) == after
