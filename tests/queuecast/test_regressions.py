"""Regressions: inputs that once gave a plausible but wrong answer with exit code 0 are reported."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from queuecast.__main__ import main
from queuecast.problems import KEYS, Refused
from queuecast.schema import read_checked, schema
from tests import factories

CONF_MAP = """\
apiVersion: v1
kind: ConfigMap
metadata: {name: volcano-scheduler-configmap, namespace: volcano-system}
data:
  volcano-scheduler.conf: |
    actions: "enqueue, allocate"
    tiers:
    - plugins:
      - name: gang
      - name: proportion
"""
QUEUE = """\
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {name: waits}
spec:
  weight: 1
"""


def local(*words: str) -> int:
    return main([*words, "--local"])


def check(backend: Path, rules: str, change: str, *more: str) -> int:
    (backend / "rules.yaml").write_text(rules)
    (backend / "change.yaml").write_text(change)
    return main(["check", "change.yaml", "--against", "cluster.json", "--assert", "rules.yaml", *more])


# export


def test_an_export_that_manifests_cannot_express_exits_with_1(
    backend: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert local("queue", "set", "base", "busy", "weight=7") == 0
    assert local("queue", "set", "base", "waits", "state=Closed") == 0
    assert local("queue", "add", "base", "team", "weight=2") == 0
    capsys.readouterr()
    assert local("scenario", "export", "base") == 1
    output = capsys.readouterr()
    assert "weight: 7" in output.out
    assert "name: team" in output.out
    assert "not in these manifests: queue waits is closed" in output.err
    assert local("scenario", "export", "base", "--script") == 0
    script = capsys.readouterr().out
    assert "weight: 7" in script
    assert script.endswith("vcctl queue operate --name=waits --action=close\n")


def test_an_export_names_what_the_webhook_rejects_in_any_format(
    backend: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    local("queue", "set", "base", "waits", "guarantee.cpu=99", "deserved.cpu=2", "weight=3")
    capsys.readouterr()
    for form in ("--changed", "--whole", "--script"):
        assert local("scenario", "export", "base", form) == 1
        assert "impossible: queue waits: spec.deserved.cpu" in capsys.readouterr().err


def test_an_export_names_the_fields_that_apply_may_leave(
    backend: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    local("queue", "set", "base", "busy", "reclaimable=", "weight=3")
    capsys.readouterr()
    assert local("scenario", "export", "base") == 0
    message = "kubectl apply removes spec.reclaimable of queue busy only if an earlier kubectl apply set it"
    assert message in capsys.readouterr().err


def test_an_emptied_configuration_is_exported_as_the_default_of_volcano(
    backend: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("empty.conf").write_text("")
    assert local("conf", "set", "base", "empty.conf") == 0
    capsys.readouterr()
    assert local("scenario", "export", "base") == 0
    assert "actions: enqueue, allocate, backfill" in capsys.readouterr().out


def test_a_removed_queue_is_exported_in_the_script_only(
    backend: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    local("queue", "remove", "base", "waits")
    capsys.readouterr()
    assert local("scenario", "export", "base", "--whole") == 1
    assert "queue waits is deleted" in capsys.readouterr().err
    assert local("scenario", "export", "base", "--script") == 0
    assert "kubectl delete queue -- waits" in capsys.readouterr().out


def test_the_exported_script_is_valid_for_a_shell(backend: Path, capsys: pytest.CaptureFixture[str]) -> None:

    local("queue", "set", "base", "busy", "weight=7")
    local("queue", "remove", "base", "waits")
    capsys.readouterr()
    local("scenario", "export", "base", "--script")
    script = f'kubectl() {{ echo "$@"; cat; }}\n{capsys.readouterr().out}'
    done = subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=True, input="")
    assert done.stdout.startswith("apply -f -\n")
    assert "weight: 7" in done.stdout
    assert done.stdout.endswith("delete queue -- waits\n")


# check


def test_a_change_of_only_the_configuration_is_checked(
    backend: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert check(backend, "- max_evictions: 0\n", CONF_MAP) == 0
    output = capsys.readouterr().out
    assert "conf" in output
    assert "actions" in output


@pytest.mark.parametrize(
    ("rules", "line", "says"),
    [
        ("- {share_within: {queue: busy, mni: 1}}\n", 1, "mni is not a key here. Fix: write 'min'"),
        ("- max_evictions: 3\n- no_new_pending: maybe\n", 2, "is 'maybe'. Fix: write true"),
        ("- max_evictions: 1.5\n", 1, "is 1.5, not a whole number"),
        ("- max_evictions: -1\n", 1, "at least 0"),
        ("- {deserved_at_least: {queue: busy, resources: {cpu: lots}}}\n", 1, "'lots'"),
        ("- {deserved_at_least: {queue: busy, resources: {cpu: 1.2.3}}}\n", 1, "1.2.3"),
        ("- no_victim_in: bsuy\n", 1, "there is no queue 'bsuy' in the plan. Fix: write 'busy'"),
        ("- no_victims_in: busy\n", 1, "no_victims_in is not a key here. Fix: write 'no_victim_in'"),
        (
            "- deserved_at_least: {queue: busy, resources: {cpu: lots}}\n",
            1,
            "Fix: write a Kubernetes quantity:",
        ),
        ("- {no_victim_in: busy, max_evictions: 2}\n", 1, "several keys"),
        ("[]\n", 1, "the file has 0 items"),
        ("max_evictions: 1\n", 1, "not a list"),
    ],
)
def test_a_misspelt_rule_is_an_error_with_its_line_and_fix(
    backend: Path, capsys: pytest.CaptureFixture[str], rules: str, line: int, says: str
) -> None:
    assert check(backend, rules, QUEUE) == 2
    output = capsys.readouterr().err
    assert f"rules.yaml:{line}: error:" in output
    assert says in output


@pytest.mark.parametrize(
    ("change", "line", "says"),
    [
        (QUEUE.replace("weight: 1", "wieght: 4"), 5, "spec.wieght"),
        (QUEUE.replace("weight: 1", "weight: 0"), 5, "is 0, and the CRD takes 1 to 65535"),
        (QUEUE + "  deserved: {cpu: 8}\n  capability: {cpu: 4}\n", 6, "above the capability of 4"),
    ],
)
def test_a_change_that_volcano_would_reject_fails_the_check(
    backend: Path, capsys: pytest.CaptureFixture[str], change: str, line: int, says: str
) -> None:
    assert check(backend, "- max_evictions: 99\n", change) == 1
    output = capsys.readouterr().out
    assert f"change.yaml:{line}: error:" in output
    assert says in output


def test_rules_about_idle_and_parent_queues_are_evaluated(
    backend: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tree = QUEUE + "---\n" + QUEUE.replace("waits", "team") + "---\n" + QUEUE.replace("waits", "idle")
    tree = tree.replace("  weight: 1\n---", "  weight: 1\n  parent: team\n---", 1)
    rules = (
        "- no_victim_in: team\n- deserved_at_least: {queue: team, resources: {cpu: 1}}\n"
        "- deserved_at_least: {queue: idle, resources: {cpu: 1}}\n- share_within: {queue: idle, min: 0.1}\n"
    )
    code = check(backend, rules, tree)
    output = capsys.readouterr().out
    assert "ok    deserved_at_least: queue team, resources cpu 1" in output, output
    assert "skip  deserved_at_least: queue idle, resources cpu 1\n      queue idle has no podgroups" in output
    assert code == 0


def test_a_vcjob_is_found_by_its_own_name(backend: Path, capsys: pytest.CaptureFixture[str]) -> None:
    local("job", "add", "base", "ml/big", "--queue", "waits", "--cpu", "1m")
    job = {
        "apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job",
        "metadata": {"name": "tiny", "namespace": "ml"},
        "spec": {"queue": "waits", "minAvailable": 1, "tasks": [{"name": "t", "replicas": 1, "template": {
            "spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": "1m"}}}]}}}]},
    }  # fmt: skip
    check(backend, "- job_runs: ml/tiny\n- job_runs: ml/tinny\n", json.dumps(job))
    output = capsys.readouterr().out
    assert "no such job: ml/tiny." not in output
    assert "no such job: ml/tinny." in output


@pytest.mark.parametrize("form", ["json", "junit", "markdown"])
def test_an_impossible_check_has_a_report(
    backend: Path, capsys: pytest.CaptureFixture[str], form: str
) -> None:
    assert check(backend, "- no_victims_in: busy\n", QUEUE, "--report", form) == 2
    assert "no_victims_in is not a key here" in capsys.readouterr().out


def test_the_json_report_has_the_figures(backend: Path, capsys: pytest.CaptureFixture[str]) -> None:
    check(backend, "- max_evictions: 99\n", QUEUE + "  capability: {cpu: 1m}\n", "--report", "json")
    report = json.loads(capsys.readouterr().out)
    assert report["passed"] is True
    assert [(one["name"], one["field"], one["after"]) for one in report["changes"]] == [
        ("waits", "spec.capability.cpu", "1m")
    ]
    assert [step["queue"] for step in report["steps"]] == ["waits"]
    (queue,) = [one for one in report["queues"] if one["queue"] == "waits"]
    assert queue["deserved"]["before"]["cpu"]["unit"] == "millicores"


# errors of local files have the shape of the API


@pytest.mark.parametrize(
    ("words", "rule", "path"),
    [
        (["queue", "set", "base", "waits", "wieght=4"], "queue.unknown_field", "queues.waits.wieght"),
        (["queue", "set", "base", "waits", "weight=0"], "queue.weight", "queues.waits.weight"),
        (["queue", "set", "base", "waits", "parent=nope"], "queue.parent_missing", "queues.waits.parent"),
        (["queue", "set", "base", "waits", "parent=waits"], "queue.cycle", "queues.waits.parent"),
        (["queue", "add", "base", "waits"], "name.taken", "queues.waits.name"),
        (["queue", "remove", "base", "nobody"], None, None),
        (["compare", "1"], None, None),
    ],
)
def test_an_error_has_the_shape_of_the_api(
    backend: Path, capsys: pytest.CaptureFixture[str], words: list[str], rule: str | None, path: str | None
) -> None:
    assert local(*words, "-o", "json") == 2
    body: dict[str, Any] = json.loads(capsys.readouterr().err)
    assert set(body) == {"code", "message", "problems"}
    assert [(one["rule"], one["path"]) for one in body["problems"]] == ([(rule, path)] if rule else [])
    assert all(tuple(one) == KEYS for one in body["problems"])


def test_a_duplicate_job_is_refused(backend: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert local("job", "add", "base", "x", "--queue", "busy") == 0
    assert local("job", "add", "base", "x", "--queue", "busy") == 2
    assert "already exists" in capsys.readouterr().err


def test_a_second_import_keeps_the_snapshot_of_existing_scenarios(
    backend: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = {**factories.cluster(nodes=5), "scheduler_conf": factories.CONF}
    (backend / "other.json").write_text(json.dumps(other))
    assert local("import", "other.json", "--name", "prod") == 0
    capsys.readouterr()
    assert local("scenario", "diff", "base") == 0
    assert capsys.readouterr().out == "No difference.\n"
    assert local("scenario", "create", "newer", "--snapshot", "prod", "-o", "json") == 0
    assert json.loads(capsys.readouterr().out)["snapshot"] == "prod.2"


# edits report the problems that they cause


def test_an_edit_shows_the_problems_that_it_causes(backend: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert local("queue", "set", "base", "waits", "guarantee.cpu=99", "deserved.cpu=2") == 0
    assert "queue.deserved_below_guarantee" in capsys.readouterr().out
    assert local("job", "add", "base", "x", "--queue", "nope") == 0
    assert "job.queue_missing" in capsys.readouterr().out
    assert local("scenario", "validate", "base") == 1
    output = capsys.readouterr().out
    assert "job.queue_missing" in output
    assert "queue.deserved_below_guarantee" in output


def test_a_configmap_is_recognised_by_its_contents(backend: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (backend / "map.yaml").write_text(CONF_MAP)
    (backend / "queue.yaml").write_text(QUEUE)
    assert local("conf", "lint", "map.yaml") == 0
    assert "map.yaml:6" in capsys.readouterr().out
    assert local("conf", "set", "base", "map.yaml") == 0
    capsys.readouterr()
    assert local("scenario", "export", "base") == 0
    assert capsys.readouterr().out.count("kind: ConfigMap") == 1
    assert local("conf", "set", "base", "queue.yaml") == 2
    assert "there is no volcano-scheduler.conf in this file" in capsys.readouterr().err


KEYS_OF_RULES = sorted(schema("rules")["$defs"]["rule"]["properties"])


@given(st.sampled_from(KEYS_OF_RULES), st.integers(0, 20), st.sampled_from("abcxyz_"))
@settings(max_examples=40)
def test_a_rule_with_an_extra_letter_is_refused(rule: str, place: int, letter: str) -> None:

    misspelt = rule[: place % len(rule)] + letter + rule[place % len(rule) :]
    with pytest.raises(Refused):
        read_checked("rules.yaml", f"- {misspelt}: 1\n".encode(), "rules")


@pytest.mark.parametrize(("address", "code"), [("ftp://x", 2), ("foo", 2), ("http://127.0.0.1:9", 3)])
def test_an_address_that_is_none_is_invalid_and_one_without_a_server_is_away(address: str, code: int) -> None:
    assert main(["scenario", "list", "--server", address]) == code
