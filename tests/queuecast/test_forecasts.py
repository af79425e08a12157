"""Forecasts on files, without a server: traces, verdicts, costs, comparisons, rules."""

import csv
import json
import shutil
from contextlib import chdir
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from planning.forecasts.clock import spelled
from queuecast.__main__ import main
from queuecast.forecast_tables import verdict_table
from tests.builders import conf, node, podgroup, pods, queue, scenario
from tests.queuecast.test_local import json_output, run_local

CLUSTER: Any = scenario(
    nodes=[node(f"n{number}", cpu=4, memory="16Gi") for number in range(2)],
    queues=[queue("a", deserved={"cpu": 4}), queue("b", deserved={"cpu": 4})],
    conf=conf("enqueue, allocate, reclaim", ["priority", "gang"], ["predicates", "capacity"]),
    now="2026-11-22T12:00:00Z",
)
TRACE = "name,queue,submit_seconds,run_seconds,pods,cpu,memory\n" + "".join(
    f"j{number:02d},{'a' if number % 3 else 'elsewhere'},{number * 30},{300 + number},2,1,1Gi\n"
    for number in range(20)
)
CHANGES = """\
- {at: "12:05", queue: b, set: {weight: 5}}
- {at: 10m, nodes: [n1], how: drain}
"""


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with scenario `plan` and its branch `small`, a trace, changes and prices."""
    folder = tmp_path_factory.mktemp("prepared")
    for name, text in (
        ("cluster.json", json.dumps(CLUSTER)),
        ("trace.csv", TRACE),
        ("changes.yaml", CHANGES),
        ("prices.yaml", "resources: {cpu: 0.04}\ncurrency: EUR\n"),
    ):
        (folder / name).write_text(text)
    with chdir(folder):
        run_local("import", "cluster.json", "--name", "prod")
        run_local("scenario", "create", "plan", "--snapshot", "prod")
        run_local("scenario", "branch", "plan", "small")
        run_local("queue", "set", "small", "a", "capability.cpu=2")
    return folder


@pytest.fixture
def folder(
    prepared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Path:
    """A copy of that folder, in which the commands run."""
    shutil.copytree(prepared, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


CAPPED = """\
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {name: a}
spec: {weight: 1, reclaimable: true, deserved: {cpu: "2"}, capability: {cpu: "2"}}
"""
WORK = ("--trace", "trace.csv", "--horizon", "2h", "--period", "5s", "--rest", "b")


def test_a_forecast_reports_waits_and_costs(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (found,) = json_output(capsys, "forecast", "plan", *WORK, "--target", "a=1m", "--prices", "prices.yaml")
    queues = {one["queue"]: one for one in found["queues"]}
    assert (queues["a"]["jobs"], queues["b"]["jobs"]) == (13, 7)
    kinds = {one["kind"] for one in found["verdict"]}
    assert {"target", "utilisation"} <= kinds
    assert sum(one["allocated"] + one["idle"] for one in found["costs"]["queues"]) == pytest.approx(
        8 * 2 * 0.04
    )
    run_local("forecast", "plan", *WORK, "--chargeback", "bill.csv", "--prices", "prices.yaml")
    assert "Costs in EUR; the nodes cost 0.64" in capsys.readouterr().out
    rows = list(csv.DictReader(StringIO((folder / "bill.csv").read_text())))
    assert [row["queue"] for row in rows] == ["a", "b", "(no queue)"]


def test_two_scenarios_are_compared_under_the_same_workload(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first, second = json_output(capsys, "forecast", "plan", "small", *WORK)
    assert "compared" not in first
    of_a = next(one for one in second["compared"]["queues"] if one["queue"] == "a")
    assert of_a["longer"] > 0 == of_a["shorter"]
    assert "adds" in second["compared"]["says"]


def test_several_seeds_give_intervals(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, second = json_output(capsys, "forecast", "plan", "small", *WORK, "--seeds", "3")
    of_a = next(one for one in second["compared"]["seeds"] if one["queue"] == "a")
    change = of_a["p95"]["change"]
    assert change["seeds"] == 3
    assert change["low"] <= change["mean"] <= change["high"]
    assert change["mean"] > 0, "a smaller capability makes jobs wait longer"
    run_local("forecast", "plan", "small", *WORK, "--seeds", "2")
    assert "over 2 drawn workloads, 95 % intervals by Student's t" in capsys.readouterr().out
    run_local("forecast", "plan", "small", *WORK, "--seeds", "1", code=2)


def test_one_scenario_has_the_intervals_of_its_own_waits(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (found,) = json_output(capsys, "forecast", "plan", *WORK, "--seeds", "3")
    of_a = next(one for one in found["seeds"] if one["queue"] == "a")
    assert of_a["p95"]["seeds"] == 3
    assert of_a["p95"]["low"] <= of_a["p95"]["mean"] <= of_a["p95"]["high"]
    run_local("forecast", "plan", *WORK, "--seeds", "3")
    text = capsys.readouterr().out
    assert "Waits over drawn workloads: means, 95 % intervals by Student's t" in text
    assert f"{spelled(of_a['p95']['mean'])} ({spelled(of_a['p95']['low'])} to " in text


def test_moments_name_their_time_zone(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run_local("forecast", "plan", *WORK)
    assert "WHEN (UTC)" in capsys.readouterr().out


def test_a_kind_with_many_findings_does_not_hide_the_others() -> None:
    loops = [{"kind": "loop", "tone": "harm", "at": 60.0, "says": f"loop {number}"} for number in range(300)]
    lost = {"kind": "lost", "tone": "harm", "at": None, "says": "work is lost"}
    table = verdict_table({"scenario": "plan", "end_seconds": 60.0, "begin": "", "verdict": [*loops, lost]})
    lines = str(table).splitlines()
    assert [line.rpartition("  ")[2] for line in lines[2:]] == [
        *(f"loop {number}" for number in range(5)), "work is lost", "295 further rows: -o wide",
    ]  # fmt: skip
    assert len(table.csv().splitlines()) == len(table.aligned(is_wide=True).splitlines()) - 1 == 302


def test_the_usage_of_the_nodes_is_reported_with_its_fragmentation(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (found,) = json_output(capsys, "forecast", "plan", *WORK)
    cpu = next(one for one in found["resources"] if one["resource"] == "cpu")
    assert 0 < cpu["allocated"] <= cpu["most_allocated"] <= 1
    # each pod requests one core, and nodes have whole cores: free cores always fit a pod
    assert (cpu["fragmented"], cpu["most_fragmented"]) == (0, 0)
    run_local("forecast", "plan", *WORK)
    assert "Use of the nodes" in capsys.readouterr().out


def test_timed_changes_happen_at_their_times(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (calm,) = json_output(capsys, "forecast", "plan", *WORK)
    (drained,) = json_output(capsys, "forecast", "plan", *WORK, "--changes", "changes.yaml")
    lost = [sum(one["lost_seconds"] for one in found["queues"]) for found in (calm, drained)]
    assert lost[0] == 0 < lost[1]


def test_the_same_forecast_gives_the_same_output(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert json_output(capsys, "forecast", "plan", *WORK) == json_output(capsys, "forecast", "plan", *WORK)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--trace", "trace.csv"), "elsewhere"),
        ((*WORK, "--map", "a=nope"), "nope"),
        ((*WORK, "--map", "nope=a"), "the trace has no queue 'nope'"),
        ((*WORK, "--horizon", "0"), "horizon_seconds: error: horizon_seconds is out of range"),
        ((*WORK, "--horizon", "soon"), "soon"),
        ((*WORK, "--map", "a"), "NAME=VALUE"),
        ((*WORK, "--prices", "changes.yaml"), "mapping"),
        ((*WORK, "--changes", "prices.yaml"), "list of changes"),
        ((*WORK, "--chargeback", "x.csv"), "--prices"),
        (
            (*WORK, "--target", "nope=1m"),
            "targets.nope: error: The scenario has no queue 'nope' that takes jobs",
        ),
        ((*WORK, "--target", "a=0"), "targets.a: error: The wait target of a is out of range"),
        ((*WORK, "--period", "0"), "period_seconds: error: period_seconds is out of range"),
        ((*WORK, "--seeds", "1"), "choose 2 to 30"),
        (("--trace", "cluster.json", "--rest", "b"), "no job"),
    ],
)
def test_every_problem_is_reported_with_its_place(
    folder: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], says: str
) -> None:
    run_local("forecast", "plan", *words, code=2)
    assert says in capsys.readouterr().err


def test_a_trace_is_shown_and_extended_by_generated_jobs(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    seen = json_output(capsys, "trace", "show", "trace.csv")
    assert (seen["jobs"], seen["span"]) == (20, 570)
    assert seen["sources"] == {"trace": 20}
    run_local("trace", "generate", "trace.csv", "--horizon", "1d", "--seed", "3")
    made = capsys.readouterr().out
    (folder / "more.csv").write_text(made)
    assert json_output(capsys, "trace", "show", "more.csv")["jobs"] == len(made.splitlines()) - 1 > 20


def test_a_forecast_is_compared_with_a_later_snapshot(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "later.json").write_text(json.dumps({**CLUSTER, "now": "2026-11-22T13:00:00Z"}))
    (found,) = json_output(capsys, "forecast", "plan", *WORK, "--real", "later.json", "--real-until", "1h")
    assert found["backtest"]["jobs"] == 0
    assert len(found["backtest"]["unknown"]) == 20


def test_real_arrivals_are_forecast_and_compared(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    # two jobs that use the whole cluster: the second really started 100 s after the first ended
    groups, members = [], []
    for number, (start, end) in enumerate(((0, 600), (700, 1300))):
        group = podgroup(f"job-{number}", queue="a", min_member=2, created=0, phase="Running")
        group["metadata"]["creationTimestamp"] = "2026-11-22T12:00:00Z"
        for member in pods(f"job-{number}", 2, cpu=4):
            member["status"] = {
                "phase": "Succeeded",
                "startTime": clock(start),
                "containerStatuses": [{"name": "main", "state": {"terminated": {"finishedAt": clock(end)}}}],
            }
            members.append(member)
        groups.append(group)
    (folder / "later.json").write_text(json.dumps({**CLUSTER, "podgroups": groups, "pods": members}))
    (found,) = json_output(capsys, "forecast", "plan", "--real", "later.json", "--horizon", "1h")
    right = found["backtest"]
    assert (right["jobs"], right["unknown"]) == (2, [])
    assert right["within"] == {"60.0": 0.5, "600.0": 1.0}
    assert right["queues"][0]["bias"] == pytest.approx(-50, abs=1)


def test_finished_jobs_of_a_snapshot_are_a_trace(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    group = podgroup("job", queue="a", min_member=1, created=0, phase="Running")
    (member,) = pods("job", 1, cpu=2)
    ended = {"terminated": {"finishedAt": clock(90)}}
    member["status"] = {
        "phase": "Succeeded",
        "startTime": clock(30),
        "containerStatuses": [{"name": "main", "state": ended}],
    }
    (folder / "done.json").write_text(json.dumps({**CLUSTER, "podgroups": [group], "pods": [member]}))
    run_local("import", "done.json", "--name", "done")
    capsys.readouterr()
    run_local("trace", "own", "done")
    (row,) = csv.DictReader(StringIO(capsys.readouterr().out))
    assert (row["name"], row["queue"], row["run_seconds"], row["cpu"]) == ("default/job", "a", "60", "2")


def clock(seconds: int) -> str:
    return f"2026-11-22T12:{seconds // 60:02d}:{seconds % 60:02d}Z"


def test_a_forecast_requires_a_workload(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run_local("forecast", "plan", code=2)
    assert "--trace" in capsys.readouterr().err


# rules


def check(folder: Path, rules: str, *words: str) -> int:
    (folder / "rules.yaml").write_text(rules)
    (folder / "change.yaml").write_text(CAPPED)
    against = ["--against", "cluster.json", "--assert", "rules.yaml"]
    return main(["check", "change.yaml", *against, *words])


@pytest.mark.parametrize(
    ("rule", "code", "says"),
    [
        ("wait_p95: {queue: b, at_most: 10m}", 0, "the rule holds"),
        ("wait_p95: {queue: a, at_most: 10m}", 1, "the 95th percentile is"),
        ("no_loop: true", 0, "the rule holds"),
        ("lost_hours_at_most: {hours: 0}", 0, "the rule holds"),
        ("wait_p95: {queue: default, at_most: 5}", 0, "gets no job"),
        ("no_longer_waits: {by: 10m}", 1, "a: the 95th percentile is"),
        ("no_longer_waits: {by: 10m, queue: root}", 1, "instead of"),
        ("no_longer_waits: {by: 10m, queue: b}", 0, "the rule holds"),
        ("no_longer_waits: {by: 9d}", 0, "the rule holds"),
        ("no_more_evictions: {}", 0, "the rule holds"),
    ],
)
def test_rules_about_the_forecast_of_a_change_are_evaluated(
    folder: Path, capsys: pytest.CaptureFixture[str], rule: str, code: int, says: str
) -> None:
    assert check(folder, f"- {rule}\n", *WORK) == code
    assert says in capsys.readouterr().out


def test_more_evictions_than_without_the_change_break_their_rule(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    without_enqueue = conf("allocate, reclaim", ["priority", "gang"], ["predicates", "capacity"])
    (folder / "cluster.json").write_text(json.dumps({**CLUSTER, "scheduler_conf": without_enqueue}))
    jobs = [
        f"{queue}{number},{queue},{at},3600,1,1,1Gi"
        for queue, at in (("b", 0), ("a", 60))
        for number in range(8)
    ]
    (folder / "trace.csv").write_text("\n".join([TRACE.partition("\n")[0], *jobs, ""]))
    borrows = CAPPED.replace(', capability: {cpu: "2"}', "")
    more = borrows.replace('cpu: "2"', 'cpu: "6"')
    (folder / "change.yaml").write_text(f"{more}---\n{borrows.replace('{name: a}', '{name: b}')}")
    (folder / "rules.yaml").write_text("- max_evictions: 0\n- no_more_evictions: {}\n")
    against = ["--against", "cluster.json", "--assert", "rules.yaml"]
    assert main(["check", "change.yaml", *against, *WORK, "--report", "json"]) == 1
    report = json.loads(capsys.readouterr().out)
    assert [rule["status"] for rule in report["rules"]] == ["kept", "broken"], (
        "the first session evicts no pod"
    )
    assert report["rules"][1]["why"] == "b: 6 evictions instead of 4"


def test_only_jobs_of_both_forecasts_are_compared(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    group = podgroup("waits", queue="b", min_member=1, created=0, phase="Pending")
    without_clock = {name: value for name, value in CLUSTER.items() if name != "now"}
    document = {**without_clock, "podgroups": [group], "pods": pods("waits", 1, cpu=1)}
    (folder / "cluster.json").write_text(json.dumps(document))
    (folder / "change.yaml").write_text(CAPPED.replace("{name: a}", "{name: c}"))
    (folder / "rules.yaml").write_text("- no_longer_waits: {by: 0}\n")
    against = ["--against", "cluster.json", "--assert", "rules.yaml"]
    code = main(["check", "change.yaml", *against, *WORK])
    assert (code, "the rule holds" in capsys.readouterr().out) == (0, True), (
        "a new queue is younger than the job"
    )


def test_a_workload_of_new_queues_has_no_forecast_without_the_change(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "change.yaml").write_text(CAPPED.replace("{name: a}", "{name: c}"))
    (folder / "rules.yaml").write_text("- no_longer_waits: {by: 0}\n")
    against = ["--against", "cluster.json", "--assert", "rules.yaml"]
    assert main(["check", "change.yaml", *against, *WORK, "--map", "elsewhere=c"]) == 2
    assert (
        "queues.elsewhere: error: no_longer_waits and no_more_evictions compare with the forecast without the"
        " change: there is no queue 'c' that may have jobs. Fix: name one of a, b, default."
    ) in capsys.readouterr().err
    (folder / "rules.yaml").write_text("- wait_p95: {queue: b, at_most: 10m}\n")
    assert main(["check", "change.yaml", *against, *WORK, "--map", "elsewhere=c"]) == 0


def test_lost_work_breaks_its_rule(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    drained = (*WORK, "--changes", "changes.yaml")
    assert check(folder, "- lost_hours_at_most: {hours: 0.01, resource: cpu}\n", *drained) == 1
    assert "hours of CPU are lost" in capsys.readouterr().out


@pytest.mark.parametrize(
    "rule",
    [
        "wait_p95: {queue: a, at_most: soon}",
        "wait_p95: {queue: a}",
        "wait_p95: {queue: nowhere, at_most: 10m}",
        "no_loop: false",
        "lost_hours_at_most: {hours: -1}",
        "lost_hours_at_most: {hours: 1, of: a}",
    ],
)
def test_an_invalid_rule_about_a_forecast_exits_with_2(folder: Path, rule: str) -> None:
    assert check(folder, f"- {rule}\n", *WORK) == 2


def test_a_rule_about_a_forecast_requires_a_workload(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert check(folder, "- no_loop: true\n") == 2
    assert "--trace" in capsys.readouterr().err
