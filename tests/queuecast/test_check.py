"""`queuecast check` evaluates rules on the outcome of a change, as in docs/checks.md."""

import json
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from queuecast.__main__ import main
from tests import factories
from tests.builders import amounts, conf, node, podgroup, pods, queue, scenario
from tests.scheduler_core.answers import evicted_and_bound_again
from tests.scheduler_core.test_release import EXAMPLE

DOCS = Path(__file__).parents[2] / "docs" / "checks.md"
CLOSED = """\
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {name: waits}
spec: {weight: 1, reclaimable: true, capability: {cpu: "1m"}}
"""


@pytest.fixture
def snapshot(tmp_path: Path) -> Path:
    """A cluster in which queue `waits` reclaims from queue `busy`."""
    path = tmp_path / "snapshot.json"
    path.write_text(json.dumps({**factories.cluster(), "scheduler_conf": factories.CONF}))
    return path


def check(snapshot: Path, rules: str, changes: str = CLOSED, *more: str) -> int:
    (snapshot.parent / "changes.yaml").write_text(changes)
    (snapshot.parent / "rules.yaml").write_text(rules)
    files = [str(snapshot.parent / name) for name in ("changes.yaml", "rules.yaml")]
    return main(["check", files[0], "--against", str(snapshot), "--assert", files[1], *more])


def test_rules_that_hold_exit_with_0(snapshot: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rules = "- no_victim_in: busy\n- max_evictions: 0\n- job_runs: default/run\n- no_new_pending: true\n"
    assert check(snapshot, rules) == 0
    assert capsys.readouterr().out.endswith("all 4 rules hold\n")


def test_problems_of_the_change_and_of_the_rules_are_reported_at_once(
    snapshot: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert check(snapshot, "- no_victim_in: waist\n", CLOSED.replace("weight: 1", "weight: x")) == 2
    errors = capsys.readouterr().err
    assert "spec.weight is the string 'x', not a whole number" in errors
    assert "there is no queue 'waist' in the plan. Fix: write 'waits'." in errors


@pytest.mark.parametrize(
    ("rule", "why"),
    [
        ("no_victim_in: busy", "of queue busy, for default/wait-"),
        ("max_evictions: 0", "      1 pod is evicted"),
        ("job_runs: default/nobody", "no such job"),
        ("deserved_at_least: {queue: waits, resources: {cpu: 12}}", "deserves 4 cores, less than 12 cores"),
        ("share_within: {queue: busy, max: 1}", "%, more than 100 %"),
    ],
)
def test_a_broken_rule_names_the_figures(
    snapshot: Path, capsys: pytest.CaptureFixture[str], rule: str, why: str
) -> None:
    assert check(snapshot, f"- {rule}\n", CLOSED.replace("1m", "12")) == 1
    assert why in capsys.readouterr().out


def test_the_share_of_a_parent_is_that_of_its_own_amounts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Volcano computes none when a session opens."""
    path = tmp_path / "snapshot.json"
    document = scenario(
        nodes=[node("n0", cpu=8, memory="32Gi")],
        queues=[
            queue("top", deserved=amounts(cpu=4)),
            queue("below", parent="top", deserved=amounts(cpu=4)),
        ],
        podgroups=[podgroup("run", queue="below", phase="Running")],
        pods=pods("run", 3, node="n0", phase="Running", cpu=1),
        conf=conf("enqueue, allocate", ["gang"], ["predicates", ("capacity", {"enableHierarchy": True})]),
    )
    path.write_text(json.dumps(document))
    change = CLOSED.replace("waits", "new").replace("1m", "1")
    assert check(path, "- share_within: {queue: top, min: 0.8}\n", change) == 1
    assert "the share is 75 %, less than 80 %" in capsys.readouterr().out
    assert check(path, "- share_within: {queue: top, min: 0.7}\n", change) == 0


@pytest.mark.parametrize(
    ("limit", "why"),
    [("max: 0.62499", "62.500 %, more than 62.499 %"), ("min: 0.62501", "62.500 %, less than 62.501 %")],
)
def test_a_share_just_beyond_its_limit_differs_from_it_in_the_report(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], limit: str, why: str
) -> None:
    path = tmp_path / "snapshot.json"
    document = scenario(
        nodes=[node("n0", cpu=16, memory="32Gi")],
        queues=[queue("a", deserved=amounts(cpu=8))],
        podgroups=[podgroup("run", queue="a", phase="Running")],
        pods=pods("run", 5, node="n0", phase="Running", cpu=1),
        conf=conf("enqueue, allocate", ["gang"], ["predicates", "capacity"]),
    )
    path.write_text(json.dumps(document))
    assert check(path, f"- share_within: {{queue: a, {limit}}}\n", CLOSED) == 1
    assert f"the share is {why}" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("rule", "error"),
    [
        ("share_within: {queue: busy, min: 0.5, max: 0.1}", "min 0.5 is above max 0.1"),
        ("deserved_at_least: {queue: busy, resources: {gpu: 1}}", "counts no resource 'gpu'"),
        ("lost_hours_at_most: {hours: 0, resource: nvidia.com/gpuu}", "no resource 'nvidia.com/gpuu' in"),
        ("deserved_at_least: {}", "[0].deserved_at_least has no resources"),
        ("share_within: {queue: busy}", "[0].share_within has 1 key. Fix: write at least 2 of queue, min"),
        ("upgrade_keeps: newest", "write a release of Volcano under which"),
        ("no_victim_in:", "is null, not a text"),
    ],
)
def test_a_rule_that_no_plan_can_keep_or_break_is_an_error(
    snapshot: Path, capsys: pytest.CaptureFixture[str], rule: str, error: str
) -> None:
    assert check(snapshot, f"- {rule}\n") == 2
    assert error in capsys.readouterr().err


def test_a_report_that_cannot_be_written_is_an_error_and_no_broken_rule(
    snapshot: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = snapshot.parent / "missing" / "report.md"
    assert check(snapshot, "- max_evictions: 9\n", CLOSED, "--report", "markdown", "--to", str(path)) == 2
    assert capsys.readouterr().err == f"{path}: No such file or directory\n"


def test_a_report_for_ci_is_valid_xml_whatever_a_rule_is_called(
    snapshot: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert check(snapshot, '- job_runs: "a\\x01/<b>"\n', CLOSED, "--report", "junit") == 1
    suite = ElementTree.fromstring(capsys.readouterr().out)  # noqa: S314
    assert suite.findall("testcase")[1].get("name") == "job_runs: a\ufffd/<b>"


def test_a_release_that_is_not_known_is_named_with_the_one_that_is_simulated(
    snapshot: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert check(snapshot, "- upgrade_keeps: v1.17.2\n- upgrade_keeps: v1.15.1\n") == 0
    output = capsys.readouterr().out
    assert output.count("simulated as v1.16.0-alpha.1, the known release nearest to v1.17.2") == 1
    assert "nearest to v1.15.1" not in output


def test_pods_that_waited_before_are_not_counted_as_new(
    snapshot: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert check(snapshot, "- no_new_pending: true\n") == 0
    more = json.dumps(factories.pod("another", "wait", cpu="64"))
    assert check(snapshot, "- no_new_pending: true\n", more) == 1
    assert "default/another" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("rules", "changes"),
    [
        ("- nonsense: 1\n", CLOSED),
        ("[]", CLOSED),
        ("- no_victim_in: nowhere\n", CLOSED),
        ("- max_evictions: 1\n", "kind: [\n"),
        ("- max_evictions: 1\n", CLOSED.replace("1m", "lots")),
    ],
)
def test_unreadable_files_and_impossible_simulations_exit_with_2(
    snapshot: Path, capsys: pytest.CaptureFixture[str], rules: str, changes: str
) -> None:
    assert check(snapshot, rules, changes) == 2
    assert capsys.readouterr().err.strip()


def test_reports_are_written_for_ci_and_for_a_pull_request(
    snapshot: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rules = "- max_evictions: 0\n- no_victim_in: busy\n"
    report = snapshot.parent / "report.xml"
    open_queue = CLOSED.replace("1m", "12")
    assert check(snapshot, rules, open_queue, "--report", "junit", "--to", str(report)) == 1
    suite = ElementTree.fromstring(report.read_text().partition("\n")[2])  # noqa: S314 - our own file
    assert (suite.get("tests"), suite.get("failures")) == ("3", "2")
    assert check(snapshot, rules, open_queue, "--report", "markdown") == 1
    assert "| ❌ | no_victim_in: busy | default/run-" in capsys.readouterr().out


def test_every_report_lists_what_the_simulation_leaves_out(
    snapshot: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pod = factories.pod("claimed", "wait")
    pod["spec"]["resourceClaims"] = [{"name": "gpu", "resourceClaimName": "gpu"}]
    note = "Not modelled: resource claims of pod default/claimed. "
    for form, heading in (
        ("text", "Left out and assumed:\n  - "),
        ("markdown", "#### Left out and assumed\n\n- "),
    ):
        check(snapshot, "- max_evictions: 99\n", json.dumps(pod), "--report", form)
        assert f"{heading}{note}" in capsys.readouterr().out
    check(snapshot, "- max_evictions: 99\n", json.dumps(pod), "--report", "junit")
    suite = ElementTree.fromstring(capsys.readouterr().out.partition("\n")[2])  # noqa: S314 - our own
    assert note in (suite.findtext("system-out") or "")


def test_the_documented_rules_are_accepted(snapshot: Path) -> None:
    (rules,) = re.findall(r"```yaml\n(- .*?)```", DOCS.read_text(encoding="utf-8"), flags=re.DOTALL)
    assert check(snapshot, rules.replace("research", "busy").replace("ml/train", "default/run")) in (0, 1)


@pytest.mark.parametrize("report", ["text", "markdown", "junit"])
def test_a_report_names_endless_evictions(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], report: str
) -> None:
    path = tmp_path / "snapshot.json"
    path.write_text(json.dumps(evicted_and_bound_again()))
    calm = (
        "apiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\nmetadata: {name: idle}\nspec: {weight: 1}\n"
    )
    check(path, "- max_evictions: 9\n", calm, "--report", report)
    output = capsys.readouterr().out
    assert "An eviction loop: from cycle 3 on" in output
    assert "Deserved of queue queue1: 4 cores instead of 3 cores: no pod is evicted" in output


def test_a_plan_is_checked_under_the_release_of_an_upgrade(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    snapshot = tmp_path / "cluster.json"
    snapshot.write_text(json.dumps({**EXAMPLE, "name": "example"}))
    change = json.dumps(factories.queue("q1", weight=2, deserved={"cpu": "4"}))
    assert check(snapshot, "- upgrade_keeps: v1.15.0\n", change) == 0
    capsys.readouterr()
    assert check(snapshot, "- upgrade_keeps: v1.14.4\n", change) == 1
    output = capsys.readouterr().out
    assert (
        "pod default/run-0: evicted by none -> reclaim (reclaim-rollback or capacity-victim-order)" in output
    )
    assert check(snapshot, "- upgrade_keeps: newest\n", change) == 2
