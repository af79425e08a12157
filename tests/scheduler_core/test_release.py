"""docs/releases.md lists the current rules, and its example decides as documented."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from queuecast.__main__ import main
from scheduler_core import prepare, simulate_document
from scheduler_core.model.pod_amounts import incoming_amounts
from scheduler_core.release import RELEASES, V1_14, V1_15, V1_16, Release, Rule, unmodelled_between
from scheduler_core.upgrade import (
    Impact,
    impact_data,
    impact_markdown,
    impact_notes,
    upgrade_impact,
    verdict,
)
from scheduler_core.upgrade.report import rule_id
from tests.builders import Object, conf, node, pod, podgroup, queue, scenario

PAGE = Path(__file__).resolve().parents[2] / "docs" / "releases.md"

EXAMPLE = scenario(
    nodes=[node("a", cpu=8, memory="64Gi")],
    queues=[queue("q0", deserved={"cpu": 2}), queue("q1", deserved={"cpu": 4})],
    podgroups=[podgroup("run", queue="q0", phase="Running"), podgroup("j", queue="q1", created=9)],
    pods=[
        pod("run-0", group="run", node="a", cpu=2, memory="1Gi", created=1),
        pod("run-1", group="run", node="a", cpu=4, memory="1Gi", created=2),
        pod("j-0", group="j", cpu=2, memory="1Gi", created=9),
    ],
    conf=conf("reclaim", ["gang", "capacity"]),
)


def rows(heading: str) -> list[list[str]]:
    """Return the cells of the table below a heading."""
    lines = PAGE.read_text().split(f"## {heading}\n")[1].split("\n## ")[0].splitlines()
    table = [line for line in lines if line.startswith("|")][2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table]


def test_releases_page_lists_every_rule_with_pull_requests_and_behaviours() -> None:
    assert rows("The rules") == [
        [
            rule_id(rule),
            rule.value.part,
            f"v{rule.since[0]}.{rule.since[1]}",
            ", ".join(f"#{pull}" for pull in rule.value.pulls),
            rule.value.before,
            rule.value.after,
        ]
        for rule in Rule
    ]


@pytest.mark.parametrize(("release", "decisions"), rows("A worked example"))
def test_worked_example_decides_as_documented(release: str, decisions: str) -> None:
    result = simulate_document({**EXAMPLE, "release": release})
    made = [f"{entry['op']} {entry['pod']}" for entry in result["cycles"][0]["decisions"]]
    assert ", ".join(made) == decisions


def test_releases_page_names_every_known_release() -> None:
    assert all(release.name in PAGE.read_text() for release in RELEASES)


def test_upgrade_report_names_each_cause_with_both_behaviours() -> None:
    impact = upgrade_impact(prepare(EXAMPLE), V1_14, V1_15)
    report = impact_markdown(impact, "example")
    assert report.startswith("# example: Volcano v1.14.4 to v1.15.1\n")
    assert "| default/run-0 | evicted by | reclaim | – |" in report
    for rule in impact.causes:
        assert rule.value.before in report
        assert rule.value.after in report


def test_upgrade_data_contains_every_difference() -> None:
    impact = upgrade_impact(prepare(EXAMPLE), V1_14, V1_15)
    data = impact_data(impact)
    assert len(data["differences"]) == len(impact.differences)
    assert {rule["id"] for rule in data["rules"]} == {rule_id(rule) for rule in impact.causes}


def with_pod_level_requests() -> Object:
    """Return a cluster in which a pod without requests of its containers has requests of its own."""
    nodes = [node("a", cpu=8), node("b", cpu=4)]
    spec = {"resources": {"requests": {"cpu": "3", "memory": "1Gi"}}}
    return scenario(
        nodes=nodes,
        podgroups=[podgroup("run", phase="Running"), podgroup("j")],
        pods=[pod("run-0", group="run", node="a", cpu=1, memory="4Gi"), pod("j-0", group="j", spec=spec)],
        conf=conf("allocate, backfill", ["predicates", "nodeorder"]),
    )


@pytest.mark.parametrize(
    ("document", "cause", "old", "new"),
    [
        (with_pod_level_requests(), Rule.POD_LEVEL_REQUESTS, V1_14, V1_15),
        (
            scenario(
                nodes=[node("a", cpu=8)],
                podgroups=[podgroup("j")],
                pods=[pod("j-0", group="j", cpu=1)],
                conf=conf("allocate", ["predicates", ("nodegroup", {"arguments": {"strict": "false"}})]),
            ),
            Rule.BOOLEANS_AS_TEXT,
            V1_14,
            V1_15,
        ),
    ],
)
def test_rule_is_the_cause_of_a_difference(document: Object, cause: Rule, old: Release, new: Release) -> None:
    assert upgrade_impact(prepare(document), old, new).causes == [cause]


def test_scores_read_pod_level_requests_since_1_16() -> None:
    spec = {"containers": [{}], "resources": {"requests": {"cpu": "3"}}}
    old, new = (
        incoming_amounts(spec, default_requests=True, pod_level=release.follows(Rule.POD_LEVEL_SCORES))
        for release in (V1_15, V1_16)
    )
    assert (old.requested[0], new.requested[0]) == (0, 3000)
    assert (old.assumed[0], new.assumed[0]) == (100, 3000)


def test_upgrade_to_the_same_release_reports_no_difference() -> None:
    impact = upgrade_impact(prepare(EXAMPLE), V1_15, V1_15)
    assert "no difference between them is known" in impact_markdown(impact, "example")


def test_a_downgrade_names_the_newer_behaviour_as_the_one_before() -> None:
    impact = upgrade_impact(prepare(EXAMPLE), V1_15, V1_14)
    rule = next(rule for rule in impact_data(impact)["rules"] if rule["id"] == "reclaim-rollback")
    assert (rule["before"], rule["after"]) == (
        Rule.RECLAIM_ROLLBACK.value.after, Rule.RECLAIM_ROLLBACK.value.before
    )  # fmt: skip


def test_releases_that_follow_the_same_rules_are_not_said_to_decide_the_same(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert upgrade(tmp_path, EXAMPLE, "--from", "v1.12.0", "--to", "v1.14.4") == 0
    report = capsys.readouterr().out
    assert "Both follow the rules of v1.14.4: no difference between them is known." in report
    assert "Volcano v1.12.0 decides as v1.14.4 does, the nearest known release." in report


def test_a_report_names_the_differences_that_are_not_modelled() -> None:
    assert len(unmodelled_between(V1_16, V1_14)) == 2
    (note,) = impact_notes(V1_14, V1_15)
    assert note.startswith("Not compared: quotas for dynamic resource allocation")


def test_a_result_that_differs_in_no_row_is_not_said_to_be_the_same() -> None:
    impact = Impact(V1_14, V1_15, causes=[Rule.PREEMPT_ROLLBACK])
    assert verdict(impact) == (
        "No compared fact of a pod or a job or a queue differs, only decisions or figures that have no row; "
        "causes: preempt-rollback."
    )


def upgrade(tmp_path: Path, document: Object, *arguments: str) -> int:
    path = tmp_path / "cluster.json"
    path.write_text(json.dumps(document))
    return main(["upgrade", str(path), *arguments])


def test_upgrade_command_prints_the_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert upgrade(tmp_path, EXAMPLE, "--from", "v1.14.4", "--to", "v1.15.1") == 0
    assert capsys.readouterr().out == impact_markdown(
        upgrade_impact(prepare(EXAMPLE), V1_14, V1_15), "cluster", impact_notes(V1_14, V1_15)
    )


def test_upgrade_command_uses_the_scenarios_release(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    document = {**EXAMPLE, "release": "v1.14.4"}
    assert upgrade(tmp_path, document, "--to", "v1.15.1", "-o", "json", "--exit-code") == 1
    assert json.loads(capsys.readouterr().out)["from"] == "v1.14.4"


def test_invalid_version_is_refused_with_the_known_releases(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert upgrade(tmp_path, EXAMPLE, "--to", "latest") == 2
    assert "known releases: v1.14.4, v1.15.1, v1.16.0-alpha.1" in capsys.readouterr().err
