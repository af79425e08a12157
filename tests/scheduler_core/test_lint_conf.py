"""The lint of scheduler configurations: each rule by itself, and all published configurations."""

from __future__ import annotations

import csv
import re
import sys
from pathlib import Path
from typing import Any

import pytest

import manifests
from scheduler_core import simulate_document
from scheduler_core.conf import MODELLED_PLUGINS, parse_conf
from scheduler_core.framework.extension_points import Point
from scheduler_core.lint import conf_of, conf_problems, questions, review
from scheduler_core.lint.arguments import ARGUMENTS, Kind, argument_of
from scheduler_core.lint.dispatch import RULES
from scheduler_core.lint.names import EXTENDER_VERBS, POINTS
from scheduler_core.lint.remedies import remedy
from scheduler_core.problem import Problem
from scheduler_core.release import V1_14, V1_15
from tests.builders import node, podgroup, pods, queue, scenario, session_of
from tests.needs import unavailable
from tests.shared import ROOT, SHARED

PUBLISHED = SHARED / "data" / "scheduler-conf"
BASE = "actions: enqueue, allocate, backfill\ntiers:\n- plugins:\n  - name: gang\n  - name: predicates\n"


NOTHING_TO_DO = {"nodeorder": {"node_order"}, "resource-strategy-fit": {"predicate"}}
"""Points that a plugin does not register when no node has images, or no resource is reserved."""


def rules(text: str) -> dict[str, str]:
    """Return the rules that a configuration breaks, with the fields."""
    return {found.rule: found.field for found in conf_problems(manifests.parse_conf(text))}


def tiers(actions: str, *tiers: str) -> str:
    """Return a configuration of plugins by name: ``tiers("allocate", "gang predicates", "drf")``."""
    lines = [f"actions: {actions}", "tiers:"]
    for tier in tiers:
        lines += ["- plugins:", *(f"  - {{name: {entry.replace('/', ', ')}}}" for entry in tier.split())]
    return "\n".join(lines)


WRITTEN = {
    "unknown action": (BASE.replace("backfill", "backfil"), "conf.unknown_action", "actions"),
    "value of the wrong type": (BASE + "  - name: drf\n    enableJobOrder: 'yes'\n", "conf.rejected", ""),
    "unknown key": (BASE + "action: allocate\n", "conf.unknown_key", "action"),
    "unknown key of a plugin": (
        BASE + "    colour: red\n",
        "conf.unknown_key",
        "tiers[0].plugins[1].colour",
    ),
    "tier without plugins": (BASE + "- plugins: []\n", "conf.empty_tier", "tiers[1]"),
    "unknown plugin": (
        BASE + "  - name: proprotion\n",
        "conf.unknown_plugin",
        "tiers[0].plugins[2].name",
    ),
    "plugin that is not modelled": (
        BASE + "  - name: usage\n",
        "conf.not_modelled",
        "tiers[0].plugins[2].name",
    ),
    "misspelt switch": (
        BASE + "  - name: drf\n    enabledPreemptable: false\n",
        "conf.switch_spelling",
        "tiers[0].plugins[2].enabledPreemptable",
    ),
    "argument outside arguments": (
        BASE + "  - name: overcommit\n    overcommit-factor: 1.5\n",
        "conf.argument_misplaced",
        "tiers[0].plugins[2].overcommit-factor",
    ),
    "unknown argument": (
        BASE + "  - name: overcommit\n    arguments: {overcomit-factor: 1.5}\n",
        "conf.unknown_argument",
        "tiers[0].plugins[2].arguments.overcomit-factor",
    ),
    "argument of the wrong type": (
        BASE + "  - name: binpack\n    arguments: {binpack.weight: '10'}\n",
        "conf.argument_type",
        'tiers[0].plugins[2].arguments["binpack.weight"]',
    ),
    "factor below one": (
        BASE + "  - name: overcommit\n    arguments: {overcommit-factor: 0.5}\n",
        "conf.argument_value",
        "tiers[0].plugins[2].arguments.overcommit-factor",
    ),
    "argument of older releases": (
        BASE + "    arguments: {predicate.GPUSharingEnable: true}\n",
        "conf.argument_retired",
        'tiers[0].plugins[1].arguments["predicate.GPUSharingEnable"]',
    ),
    "hierarchy that no plugin reads": (
        BASE + "  - name: proportion\n    enableHierarchy: true\n",
        "conf.switch_idle",
        "tiers[0].plugins[2].enableHierarchy",
    ),
    "duplicate arguments of an action": (
        BASE + "configurations:\n- name: allocate\n- name: allocate\n",
        "conf.action_twice",
        "configurations[1]",
    ),
    "arguments of a plugin among the actions": (
        BASE + "configurations:\n- name: binpack\n",
        "conf.unknown_action_arguments",
        "configurations[0]",
    ),
    "arguments of an action that is not configured": (
        BASE + "configurations:\n- name: preempt\n",
        "conf.action_idle",
        "configurations[0]",
    ),
    "duplicate plugin": (tiers("allocate", "gang gang"), "conf.plugin_twice", "tiers"),
    "no plugin": ("actions: allocate", "conf.no_plugin", "tiers"),
    "without predicates": (tiers("allocate", "gang"), "conf.no_predicates", "tiers"),
    "without gang": (tiers("allocate", "drf"), "conf.no_gang", "tiers"),
    "two quota plugins": (tiers("allocate", "proportion capacity"), "conf.two_quotas", "tiers"),
    "no quota plugin": (tiers("allocate", "gang"), "conf.no_quota", "tiers"),
    "drf's tree beside proportion": (
        tiers("allocate", "drf/enableHierarchy:~true", "proportion").replace("~", " "),
        "conf.tree_and_proportion",
        "tiers",
    ),
    "two trees": (
        BASE + "  - {name: drf, enableHierarchy: true}\n  - {name: capacity, enableHierarchy: true}\n",
        "conf.two_trees",
        "tiers",
    ),
    "quota plugin below the deciding tier of reclaim": (
        tiers("reclaim, allocate", "gang conformance", "predicates proportion"),
        "conf.reclaim_bypasses_quota",
        "tiers[1]",
    ),
    "reclaim without a quota plugin": (tiers("reclaim", "gang"), "conf.reclaim_unlimited", "actions"),
    "no plugin chooses victims": (tiers("preempt", "predicates"), "conf.no_victims", "actions"),
    "no plugin votes on starving": (tiers("preempt", "conformance"), "conf.nobody_starves", "actions"),
    "gang overrides votes on starving": (
        tiers("preempt", "priority gang"),
        "conf.gang_never_starves",
        "tiers[0]",
    ),
    "gang's refusal is overridden": (tiers("preempt", "gang", "drf"), "conf.gang_passed_over", "tiers[0]"),
    "third plugin overrides an empty intersection": (
        tiers("preempt", "gang conformance drf"),
        "conf.third_opinion",
        "tiers[0]",
    ),
    "no plugin votes on enqueue": (tiers("allocate", "overcommit"), "conf.no_enqueue", "actions"),
    "votes hidden by a higher tier": (
        tiers("enqueue, allocate", "overcommit", "proportion"),
        "conf.votes_hidden",
        "tiers[1]",
    ),
    "quota plugin reserves too early": (
        tiers("enqueue, allocate", "proportion overcommit"),
        "conf.booked_early",
        "tiers[0]",
    ),
    "enqueue after allocate": (tiers("allocate, enqueue", "gang"), "conf.enqueue_late", "actions"),
    "enqueue after reclaim": (
        tiers("reclaim, enqueue", "gang proportion"),
        "conf.enqueue_crashes",
        "actions",
    ),
    "predicates without its switch": (
        BASE + "    enablePredicate: false\n",
        "conf.predicates_off",
        "tiers",
    ),
    "no allocate": (tiers("enqueue", "gang"), "conf.no_allocate", "actions"),
    "no backfill": (tiers("enqueue, allocate", "gang"), "conf.no_backfill", "actions"),
    "duplicate action": (tiers("allocate, allocate", "gang"), "conf.action_repeated", "actions"),
    "shuffle without a plugin that selects victims": (
        tiers("shuffle", "gang"),
        "conf.shuffle_idle",
        "actions",
    ),
    "shuffle with tdm": (tiers("shuffle", "tdm"), "conf.shuffle_crashes", "actions"),
}


@pytest.mark.parametrize(("text", "rule", "field"), WRITTEN.values(), ids=WRITTEN.keys())
def test_every_rule_is_reported_with_field_message_and_fix(text: str, rule: str, field: str) -> None:
    assert rules(text).get(rule) == field
    found = next(found for found in conf_problems(manifests.parse_conf(text)) if found.rule == rule)
    assert found.message
    assert found.fix or rule == "conf.not_modelled"


def test_a_plugin_that_also_votes_in_the_first_tier_is_not_hidden() -> None:
    assert "conf.votes_hidden" not in rules(tiers("enqueue, allocate", "overcommit gang", "overcommit"))


def test_a_bypassed_quota_plugin_decides_where_gang_accepts_no_candidate() -> None:
    text = tiers("allocate, reclaim", "priority gang", "predicates proportion")
    document = scenario(
        nodes=[node("n0", cpu=4)],
        queues=[queue("busy"), queue("waits")],
        podgroups=[
            podgroup("run", queue="busy", min_member=4, phase="Running"),
            podgroup("wait", queue="waits", phase="Inqueue"),
        ],
        pods=[*pods("run", 4, node="n0", phase="Running", cpu=1), *pods("wait", 1, cpu=1)],
        conf=manifests.parse_conf(text),
    )
    [victim] = simulate_document(document)["cycles"][0]["explain"]["victims"]
    assert victim["tier"] == 2
    finding = problem_of(manifests.parse_conf(text), "conf.reclaim_bypasses_quota")
    assert "only where no earlier tier accepts a candidate" in finding.message


def test_every_rule_has_a_test_case_and_a_row_in_the_docs() -> None:
    sources = (ROOT / "scheduler_core" / "lint").glob("*.py")
    output = {rule for source in sources for rule in re.findall(r'"(conf\.\w+)"', source.read_text())}
    assert output == {rule for _, rule, _ in [*WRITTEN.values(), *LATER.values()]}
    documented = re.findall(r"^\| `(conf\.\w+)` \|", (ROOT / "docs" / "lint.md").read_text(), re.MULTILINE)
    assert output == set(documented)


def test_default_configuration_has_only_remarks() -> None:
    assert {found.severity for found in conf_problems(None)} <= {"remark"}


@pytest.mark.parametrize(
    "structure", [[], "text", 3, {"actions": []}, {"tiers": 3}, {"tiers": [None, {"plugins": [4]}]}]
)
def test_invalid_configuration_structure_is_an_error(structure: Any) -> None:
    assert conf_problems(structure)[0].severity == "error"


def test_quota_plugin_in_the_tier_of_gang_is_not_bypassed() -> None:
    text = tiers("reclaim, allocate", "priority gang conformance proportion", "predicates")
    assert "conf.reclaim_bypasses_quota" not in rules(text)


def test_disabled_gang_plugin_does_not_bypass_the_quota_plugin() -> None:
    text = tiers("reclaim", "gang/enableReclaimable:~false", "capacity").replace("~", " ")
    assert "conf.reclaim_bypasses_quota" not in rules(text)


def test_argument_and_point_tables_cover_exactly_the_modelled_plugins() -> None:
    assert set(ARGUMENTS) == set(POINTS) == set(MODELLED_PLUGINS)
    assert set(RULES) == set(Point)


@pytest.mark.parametrize("plugin", MODELLED_PLUGINS)
def test_plugin_pages_list_the_same_arguments_and_defaults(plugin: str) -> None:
    page = (ROOT / "docs" / "plugins" / f"{plugin}.md").read_text()
    for names, default in re.findall(r"^\| (`[^|]*`) \| ([^|]*) \|", page.partition("| argument |")[2], re.M):
        for name in re.findall(r"`([^`]+)`", names):
            argument = argument_of(re.sub(r"<[^>]+>", "predicate", name).split(".<")[0], ARGUMENTS[plugin])
            if argument is None or argument.kind is Kind.TABLE or "Kubernetes" in default:
                continue
            actual = {"": None, "none": None, "empty": None, "true": True, "false": False}
            bare = default.strip("` ")
            assert str(actual.get(bare, bare)) == str(argument.default), name


@pytest.mark.parametrize("plugin", MODELLED_PLUGINS)
def test_table_of_points_matches_what_the_plugin_registers(plugin: str) -> None:
    arguments = dict.fromkeys(EXTENDER_VERBS.values(), "verb") if plugin == "extender" else {}
    entry = {"name": plugin, "arguments": arguments, "enableHierarchy": True}
    conf = {"actions": "allocate", "tiers": [{"plugins": [entry]}]}
    actual = {question.point for question in questions(parse_conf(conf)) if question.plugins}
    session = session_of({**scenario(), "scheduler_conf": conf})
    registered = {point.label for point in session.functions.registered_by(plugin)}
    assert registered == actual - NOTHING_TO_DO.get(plugin, set())


def test_first_tier_with_a_registered_plugin_decides() -> None:
    conf = conf_of(manifests.parse_conf(tiers("reclaim", "priority gang", "proportion")))
    assert conf is not None
    reclaimable = next(question for question in questions(conf) if question.point == "reclaimable")
    assert [(call.tier, call.plugin) for call in reclaimable.plugins] == [(1, "gang"), (2, "proportion")]
    assert reclaimable.decides == 1


def test_lint_handles_all_published_configurations() -> None:
    if not PUBLISHED.is_dir():
        unavailable("the published configurations are not here")
    bypassing = []
    for row in csv.DictReader((PUBLISHED / "INDEX.csv").read_text().splitlines()):
        text = (PUBLISHED / row["file"]).read_text()
        try:
            structure = manifests.parse_conf(text)
        except manifests.Unreadable:
            continue
        found = conf_problems(structure)
        assert all(problem.message and problem.path.startswith("scheduler_conf") for problem in found)
        if any(problem.rule == "conf.reclaim_bypasses_quota" for problem in found):
            bypassing.append(row["file"])
        assert ("reclaim bypasses" in row["lint"]) == (row["file"] in bypassing), row["file"]
    assert len(bypassing) == 18


def test_docs_list_the_findings_of_every_published_configuration() -> None:
    if not PUBLISHED.is_dir():
        unavailable("the published configurations are not here")
    table = (ROOT / "docs" / "lint.md").read_text().partition("| published file | rules |\n|---|---|\n")[2]
    rows = [
        f"| `{path.relative_to(PUBLISHED)}` | {' '.join(found_in(path)) or 'nothing'} |"
        for path in sorted(PUBLISHED.rglob("*.conf"))
    ]
    assert table.splitlines() == rows


def found_in(path: Path) -> list[str]:
    """Return the distinct rule ids found in a file, in the lint's order."""
    try:
        structure = manifests.parse_conf(path.read_text())
    except manifests.Unreadable as unreadable:
        return list(dict.fromkeys(f"`{problem.rule}`" for problem in unreadable.problems))
    return list(dict.fromkeys(f"`{problem.rule}`" for problem in conf_problems(structure)))


FIXED = {
    "conf.reclaim_bypasses_quota": tiers("enqueue, allocate, reclaim", "gang cdp", "capacity predicates"),
    "conf.votes_hidden": tiers("enqueue, allocate", "overcommit gang", "proportion predicates", "sla"),
    "conf.booked_early": tiers("enqueue, allocate", "gang proportion predicates overcommit"),
    "conf.no_predicates": tiers("allocate", "gang", "drf"),
    "conf.no_gang": tiers("allocate", "priority", "predicates"),
    "conf.no_allocate": tiers("enqueue, backfill", "gang predicates"),
    "conf.no_backfill": tiers("enqueue, allocate", "gang predicates"),
    "conf.no_enqueue": tiers("allocate", "gang predicates proportion"),
    "conf.enqueue_late": tiers("allocate, enqueue", "gang predicates"),
    "conf.enqueue_crashes": tiers("reclaim, enqueue, allocate", "gang predicates capacity"),
    "conf.action_repeated": tiers("allocate, preempt, allocate", "gang predicates"),
    "conf.empty_tier": BASE + "- plugins: []\n",
    "conf.switch_idle": BASE + "    enableHierarchy: true\n",
    "conf.argument_retired": BASE + "    arguments: {predicate.GPUSharingEnable: true}\n",
}  # fmt: skip


@pytest.mark.parametrize("rule", FIXED)
def test_fix_of_a_finding_removes_it(rule: str) -> None:
    structure = manifests.parse_conf(FIXED[rule])
    assert rule not in [problem.rule for problem in conf_problems(fixed(structure, rule))]


def test_fixes_remove_the_findings_in_published_configurations() -> None:
    if not PUBLISHED.is_dir():
        unavailable("the published configurations are not here")
    for path in sorted(PUBLISHED.rglob("*.conf")):
        try:
            structure = manifests.parse_conf(path.read_text())
        except manifests.Unreadable:
            continue
        before = [problem.rule for problem in conf_problems(structure)]
        for rule in set(before) & FIXED.keys():
            if not remedy(problem_of(structure, rule), conf_of(structure)):
                continue
            after = [problem.rule for problem in conf_problems(fixed(structure, rule))]
            assert after.count(rule) < before.count(rule), (path, rule)


def problem_of(structure: Any, rule: str) -> Problem:
    return next(problem for problem in conf_problems(structure) if problem.rule == rule)


def fixed(structure: Any, rule: str) -> Any:
    """Return a configuration after applying the fix of its first finding of a rule."""
    operations = remedy(problem_of(structure, rule), conf_of(structure))
    assert operations
    for shown in operations:
        operation = manifests.Operation(shown["op"], shown["path"], shown.get("value"), shown.get("from", ""))
        structure = manifests.patched(structure, operation)
    return structure


def calls_for(plugins: int, name: str) -> int:
    """Count the calls made to lint a configuration of this many plugins."""
    entry = {"name": name, "enableHierarchy": True, "enablePreemptabel": True, "arguments": {"wieght": 1}}
    structure = {
        "actions": "reclaim, allocate, preempt, enqueue, gangreclaim, shuffle",
        "tiers": [{"plugins": [entry] * 10} for _ in range(plugins // 10)],
    }
    counted = 0

    def count(frame: Any, event: str, argument: Any) -> None:
        nonlocal counted
        counted += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        found = conf_problems(structure)
        conf = conf_of(structure)
        assert conf is not None
        questions(conf)
        for problem in found:
            remedy(problem, conf)
    finally:
        sys.setprofile(None)
    return counted


@pytest.mark.parametrize(
    "name", ["gang", "capacity", "proportion", "overcommit", "extender", "drf", "nothing"]
)
def test_linting_takes_time_proportional_to_the_number_of_plugins(name: str) -> None:
    calls_for(50, name)
    assert calls_for(200, name) < 4.4 * calls_for(50, name)


LATER = {
    "action of a later release": (
        "actions: allocate, gangpreempt\ntiers:\n- plugins:\n  - name: gang\n",
        "conf.unknown_action",
        "actions",
    ),
    "argument of a later release": (
        BASE + "  - name: capacity\n    arguments: {ancestorReclaimLevel: 2}\n",
        "conf.argument_of_later_release",
        "tiers[0].plugins[2].arguments.ancestorReclaimLevel",
    ),
}


@pytest.mark.parametrize(("text", "rule", "field"), LATER.values(), ids=LATER)
def test_feature_of_a_later_release_is_reported_for_an_older_one(text: str, rule: str, field: str) -> None:
    structure = manifests.parse_conf(text)
    older = {found.rule: found for found in conf_problems(structure, V1_14)}
    assert older[rule].field == field
    assert "v1.14.4" in older[rule].message
    assert rule not in {found.rule for found in conf_problems(structure, V1_15)}


def test_plan_is_reviewed_for_its_stated_release() -> None:
    document = scenario(conf=manifests.parse_conf(LATER["action of a later release"][0]))
    rules_of = [
        {found.rule for found in review({**document, "release": release})}
        for release in ("v1.14.0", "v1.15.1")
    ]
    assert [("conf.unknown_action" in found) for found in rules_of] == [True, False]
