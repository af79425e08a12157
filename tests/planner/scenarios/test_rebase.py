"""Rebasing a scenario onto a newer snapshot: a three-way merge that loses no change silently."""

import copy
import random
from typing import Any

import pytest
from django.test import Client
from hypothesis import given
from hypothesis import strategies as st
from pytest_django.live_server_helper import LiveServer
from rest_framework.test import APIClient

from planner.accounts.models import Role, User, Workspace
from planner.clusters.models import Snapshot
from planner.scenarios.models import Scenario
from planner.scenarios.selectors import rebases
from planner.scenarios.services.nodes import nodes_remove, nodes_update
from planner.scenarios.services.queues import queue_create, queue_remove, queue_update
from planner.scenarios.services.scenarios import conf_update
from planner.scenarios.views import changes
from planning.contents import Content, frozen_input, renamed_queues
from planning.differences import differences, field_changes
from planning.queues import queue_manifest, queue_row, queue_spec
from planning.rebase import Rebased, rebased
from planning.rebase.conflicts import OURS, SIDES, THEIRS, Side
from planning.states import QUEUES, State
from queuecast.__main__ import main
from tests import factories
from tests.planner.pages import text_of
from tests.trials import examples

Json = dict[str, Any]
KINDS = ("nodes", "podgroups", "pods")


def side(document: Json, conf: str = factories.CONF) -> Side:
    return Side(Content(lambda: document), conf)


def initial_state(on: Side) -> State:
    return State(on.conf_text, on.rows)


def frozen(on: Side, state: State) -> bytes:
    return frozen_input(on.content.document, name="x", state=state)


def resolved_rebase(base: Side, ours: State, newer: Side, take: str) -> Rebased:
    """Rebase with one side for every conflict, including conflicts that a choice creates."""
    found = rebased(base, copy.deepcopy(ours), newer, {})
    while any(not conflict.take for conflict in found.conflicts):
        choices = {conflict.id: take for conflict in found.conflicts}
        found = rebased(base, copy.deepcopy(ours), newer, choices)
    return found


class Dice:
    """Random clusters and edits of clusters, from one seed."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def cluster(self) -> Json:
        queues: list[Json] = [factories.queue("root")]
        for name in "abcde":
            parent = self._random.choice([None, None, *(queue["metadata"]["name"] for queue in queues[1:])])
            queues.append(factories.queue(name, **({"parent": parent} if parent else {})))
        groups = [factories.podgroup(f"g{number}", self._random.choice("abcde")) for number in range(4)]
        pods = [factories.pod(f"p{number}", f"g{number}") for number in range(4)]
        nodes = [factories.node(f"n{number}") for number in range(3)]
        return {"name": "x", "nodes": nodes, "queues": queues, "podgroups": groups, "pods": pods}

    def later(self, document: Json) -> Json:
        """Return a later state of a cluster."""
        side_of = side(copy.deepcopy(document))
        state = initial_state(side_of)
        for _ in range(self._random.randrange(4)):
            self._edit_queue(state, "afxy", renames=False)
        objects = copy.deepcopy(
            {kind: side_of.content.objects[kind] for kind in ("nodes", "podgroups", "pods")}
        )
        for _ in range(self._random.randrange(3)):
            self._edit_object(objects, f"new-{self._random.randrange(3)}")
        after = {kind: list(there.values()) for kind, there in objects.items()}
        manifests = [queue_manifest(row) for row in state.ordered_queues()]
        return {**document, **after, "queues": manifests}

    def scenario(self, base: Side) -> State:
        """Return a randomly edited scenario of a cluster."""
        state = initial_state(base)
        for _ in range(self._random.randrange(5)):
            self._edit_queue(state, "afgx", renames=True)
        renamed = renamed_queues(state.queues.values())
        objects = {
            kind: {
                key: copy.deepcopy(base.content.seen(kind, key, renamed))
                for key in base.content.objects[kind]
            }
            for kind in ("nodes", "podgroups", "pods")
        }
        for _ in range(self._random.randrange(3)):
            self._edit_object(objects, f"new-{self._random.randrange(3)}")
        for kind, there in objects.items():
            for key in {*there, *base.content.objects[kind]}:
                state.objects[kind, key] = there.get(key)
        base.content.settle(state, list(state.objects))
        if self._random.random() < 0.3:
            state.conf_text += "# mine\n"
        return state

    def _edit_queue(self, state: State, new_names: str, *, renames: bool) -> None:
        rows = state.queues
        chosen = self._random.choice(sorted(rows))
        below = _below(rows, chosen)
        match self._random.randrange(6 if renames else 5):
            case 0 if chosen != "root":
                for name in (chosen, *below):
                    del rows[name]
            case 1:
                name = self._random.choice(new_names)
                if name not in rows:
                    row = queue_row({"metadata": {"name": name}})
                    row.parent, row.position = self._random.choice(["", chosen]), len(rows)
                    row.weight = self._random.randrange(1, 4)
                    rows[name] = row
            case 2 if chosen != "root":
                rows[chosen].parent = self._random.choice(["", *sorted({*rows} - {chosen, "root", *below})])
            case 5 if chosen != "root":
                name = self._random.choice([*new_names, "h"])
                if name not in rows:
                    row = rows.pop(chosen)
                    for child in rows.values():
                        child.parent = name if child.parent == chosen else child.parent
                    row.name = name
                    rows[name] = row
            case _:
                row = rows[chosen]
                resource = self._random.choice(["cpu", "memory"])
                row.capability = {**row.capability, resource: str(self._random.randrange(1, 4))}
                row.weight = self._random.randrange(1, 4)

    def _edit_object(self, objects: dict[str, dict[str, Any]], name: str) -> None:
        kind = self._random.choice(sorted(objects))
        there = objects[kind]
        key = self._random.choice(sorted(there))
        match self._random.randrange(3):
            case 0:
                del there[key]
            case 1 if kind == "podgroups":
                there[f"default/{name}"] = factories.podgroup(name, self._random.choice("abcde"))
            case _:
                there[key]["spec"]["touched"] = self._random.randrange(2)
                there[key]["spec"][f"also-{self._random.randrange(3)}"] = 1


def _below(rows: Json, name: str) -> list[str]:
    found = [name]
    for above in found:
        found += [row.name for row in rows.values() if row.parent == above and row.name not in found]
    return found[1:]


seeds = st.integers(0, 10**9)


@examples(always=50, many=150)
@given(seeds)
def test_a_rebase_onto_the_same_snapshot_changes_nothing(seed: int) -> None:
    dice = Dice(seed)
    base = side(dice.cluster())
    ours = dice.scenario(base)
    again = rebased(base, copy.deepcopy(ours), base, {})
    assert again.conflicts == []
    assert list(again.problems) == []
    assert again.state.as_copy() == ours.as_copy()
    assert frozen(base, again.state) == frozen(base, ours)


@examples(always=50, many=150)
@given(seeds)
def test_a_rebase_without_own_changes_gives_the_newer_snapshot(seed: int) -> None:
    dice = Dice(seed)
    document = dice.cluster()
    base, newer = side(document), side(dice.later(document), "actions: allocate\n")
    carried = rebased(base, initial_state(base), newer, {})
    assert carried.conflicts == []
    assert carried.state.as_copy() == initial_state(newer).as_copy()
    assert frozen(newer, carried.state) == frozen(newer, initial_state(newer))


@examples(always=130, many=400)
@given(seeds)
def test_no_change_of_ours_is_lost_unless_theirs_is_chosen(seed: int) -> None:
    dice = Dice(seed)
    document = dice.cluster()
    base, newer = side(document), side(dice.later(document))
    ours = dice.scenario(base)
    carried = resolved_rebase(base, ours, newer, OURS)
    if carried.problems:
        assert {problem.rule for problem in carried.problems} == {"queue.cycle"}
        return
    for edit in differences(initial_state(base), ours, base.content):
        now = carried.state.queues.get(edit.key)
        if edit.kind != QUEUES:
            continue
        if not edit.field:
            assert (now is not None) == (edit.key in ours.queues), edit
        elif edit.field != "name":
            assert now is not None
            wanted, is_now = edit.after, queue_spec(now)[edit.field]
            for path, _, value in field_changes(edit.before, edit.after):
                assert _at(is_now, path) == value if path else is_now == wanted, edit
    for (kind, key), manifest in ours.objects.items():
        shown = carried.state.objects.get((kind, key), newer.content.objects[kind].get(key))
        if manifest is None:
            assert shown is None
        else:
            before = base.content.seen(kind, key, renamed_queues(ours.queues.values())) or {}
            for path, _, value in field_changes(before, manifest):
                assert _at(shown, path) == value, (kind, key, path)


@examples(always=130, many=400)
@given(seeds)
def test_no_change_of_theirs_is_lost_unless_ours_is_chosen(seed: int) -> None:
    dice = Dice(seed)
    document = dice.cluster()
    base, newer = side(document), side(dice.later(document))
    carried = resolved_rebase(base, dice.scenario(base), newer, THEIRS)
    by_old_name = {row.imported_name: row for row in carried.state.queues.values() if row.imported_name}
    for edit in differences(initial_state(base), _by_name(initial_state(newer), base), base.content):
        if edit.kind != QUEUES or carried.problems:
            continue
        now = by_old_name.get(edit.key)
        if not edit.field and edit.after is None:
            assert now is None
        elif edit.field and edit.field != "parent":
            assert now is not None
            for path, _, value in field_changes(edit.before, edit.after):
                assert _at(queue_spec(now)[edit.field], path) == value if path else True


@examples(always=130, many=400)
@given(seeds, st.sampled_from(SIDES))
def test_a_rebase_results_in_a_tree_with_unique_names(seed: int, take: str) -> None:
    dice = Dice(seed)
    document = dice.cluster()
    base, newer = side(document), side(dice.later(document))
    carried = resolved_rebase(base, dice.scenario(base), newer, take)
    assert all(conflict.take == take for conflict in carried.conflicts)
    if carried.problems:
        return
    rows = carried.state.queues
    for name, row in rows.items():
        assert row.name == name
        assert row.parent == "" or row.parent in rows
        assert name not in _below(rows, name)


def _by_name(state: State, base: Side) -> State:
    """Return a state in which a queue counts as imported if the base has a queue of its name."""
    for row in state.queues.values():
        row.imported_name = row.name if row.name in base.rows else ""
    return state


def _at(value: Any, path: str) -> Any:
    for name in path.replace("]", "").replace("[", ".").split(".") if path else ():
        value = value[int(name)] if isinstance(value, list) else (value or {}).get(name)
    return value


# through the product


@pytest.fixture
def scenario(db: None) -> Scenario:
    scenario = factories.scenario()
    queue_update(scenario=scenario, name="waits", patch={"weight": 5}, expected_revision=1)
    queue_update(scenario=scenario, name="busy", patch={"name": "team", "priority": 7}, expected_revision=2)
    return scenario


@pytest.fixture
def newer(scenario: Scenario) -> Snapshot:
    """A later snapshot: another weight of `waits`, a new queue `team` and a third node."""
    document = factories.cluster(nodes=3)
    document["queues"][1]["spec"]["weight"] = 9
    document["queues"].append(factories.queue("team"))
    return factories.snapshot(document)


def rebase_url(scenario: Scenario) -> str:
    return f"/api/v1/scenarios/{scenario.pk}/rebase/"


PARTS = ("what", "key", "field", "ours", "theirs")
CHOICES = [
    {"kind": "queues", "key": "busy", "field": "name", "take": "theirs"},
    {"kind": "queues", "key": "waits", "field": "weight", "take": "ours"},
]


def test_conflicts_are_listed_and_resolved_through_the_api(
    api: APIClient, scenario: Scenario, newer: Snapshot
) -> None:
    body = api.get(rebase_url(scenario), {"snapshot": newer.pk}).json()
    assert [tuple(one[part] for part in PARTS) for one in body["conflicts"]] == [
        ("name_taken", "busy", "name", "team", "busy"),
        ("both_changed", "waits", "weight", 5, 9),
    ]
    payload = {"snapshot": str(newer.pk), "name": "later", "choices": CHOICES[:1]}
    seen = {"If-Match": "3"}
    refused = api.post(rebase_url(scenario), payload, headers=seen)
    assert refused.status_code == 422
    assert [problem["path"] for problem in refused.json()["problems"]] == ["queues.waits.weight"]
    assert api.post(rebase_url(scenario), payload, headers={"If-Match": "2"}).status_code == 412
    payload["choices"] = CHOICES
    assert api.post(rebase_url(scenario) + "?dry_run=1", payload, headers=seen).json()["id"] is None
    assert Scenario.objects.count() == 1
    made = api.post(rebase_url(scenario), payload, headers=seen)
    assert made.status_code == 201
    carried = Scenario.objects.get(pk=made.json()["id"])
    assert (carried.parent, carried.parent_revision, carried.snapshot) == (scenario, 3, newer)
    assert list(carried.queues.values_list("name", "weight", "priority")) == [
        ("busy", 1, 7), ("waits", 5, None), ("team", 1, None),
    ]  # fmt: skip
    scenario.refresh_from_db()
    assert (scenario.revision, scenario.queues.get(name="waits").weight) == (3, 5)
    assert api.get(f"/api/v1/scenarios/{carried.pk}/diff/?base=start").json()["differences"] == []


@pytest.mark.parametrize(("take", "weight"), [("ours", 5), ("theirs", 9)])
def test_the_rebase_command_lists_conflicts_and_resolves_them_for_one_side(
    live_server: LiveServer,
    editor: User,
    scenario: Scenario,
    newer: Snapshot,
    capsys: pytest.CaptureFixture[str],
    take: str,
    weight: int,
) -> None:
    queue_update(scenario=scenario, name="team", patch={"name": "busy"}, expected_revision=3)
    token = factories.token(editor)

    def rows_printed(*words: str, code: int) -> list[list[str]]:
        arguments = ["scenario", "rebase", str(scenario.pk), str(newer.pk), *words]
        assert main([*arguments, "--server", live_server.url, "--token", token]) == code
        return [line.split() for line in capsys.readouterr().out.splitlines()]

    actual = [
        ["Conflicts"],
        ["KIND", "NAME", "FIELD", "BASE", "OURS", "THEIRS"],
        ["queues", "waits", "weight", "1", "5", "9"],
    ]
    assert rows_printed(code=1)[:3] == actual
    assert rows_printed("--dry-run", code=1)[:3] == actual
    assert rows_printed("--dry-run", "--take", take, code=0) == actual
    assert Scenario.objects.count() == 1
    rows_printed("--take", take, code=0)
    carried = Scenario.objects.get(parent=scenario)
    assert (carried.snapshot, carried.queues.get(name="waits").weight) == (newer, weight)


def test_a_snapshot_of_another_workspace_is_refused(
    api: APIClient, scenario: Scenario, newer: Snapshot
) -> None:
    newer.workspace = Workspace.objects.create(name="another")
    newer.save()
    assert api.get(rebase_url(scenario), {"snapshot": newer.pk}).status_code == 422
    answer = api.post(rebase_url(scenario), {"snapshot": str(newer.pk)}, headers={"If-Match": "3"})
    assert [problem["path"] for problem in answer.json()["problems"]] == ["snapshot"]


def test_the_page_shows_both_sides_of_a_conflict_and_rebases(
    browser: Client, scenario: Scenario, newer: Snapshot
) -> None:
    at = f"/scenarios/{scenario.pk}/carry-over/"
    assert str(newer.pk) in text_of(browser.get(at))
    page = text_of(browser.get(at, {"snapshot": newer.pk}))
    assert "renamed here to a name that another queue has there" in page
    assert 'name="take:queues|waits|weight" value="ours" required checked' in page
    typed = {"snapshot": newer.pk, "revision": "3", "take:queues|waits|weight": "theirs"}
    refused = browser.post(at, typed)
    assert refused.status_code == 422
    assert "queues.busy.name" in text_of(refused)
    assert 'name="take:queues|waits|weight" value="theirs" checked' in text_of(refused)
    made = browser.post(at, typed | {"take:queues|busy|name": "ours"})
    carried = Scenario.objects.get(snapshot=newer)
    assert made.headers["Location"] == f"/scenarios/{carried.pk}/"
    assert list(carried.queues.values_list("name", "imported_name", "weight")) == [
        ("team", "busy", 1), ("waits", "waits", 9),
    ]  # fmt: skip
    stale = browser.post(at, typed | {"revision": "2"})
    assert stale.status_code == 412


def test_queue_changes_are_rebased_without_unpacking_a_snapshot(
    browser: Client,
    scenario: Scenario,
    django_assert_max_num_queries: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    document = factories.cluster()
    document["nodes"].append(factories.node("of-this-test-only"))
    newer = factories.snapshot(document)
    at = f"/scenarios/{scenario.pk}/carry-over/"

    def unpacked() -> bool:
        with django_assert_max_num_queries(40) as made:
            assert browser.get(at, {"snapshot": newer.pk}).status_code == 200
        return any('"packed"' in query["sql"] for query in made.captured_queries)

    assert not unpacked()
    monkeypatch.setattr(rebases, "AT_ONCE_BYTES", 0)
    assert "Comparing two large snapshots" not in text_of(browser.get(at, {"snapshot": newer.pk}))
    names = [document["nodes"][0]["metadata"]["name"]]
    nodes_remove(scenario=scenario, names=names, expected_revision=3)
    page = text_of(browser.get(at, {"snapshot": newer.pk}))
    assert "Comparing two large snapshots" in page
    assert f"?snapshot={newer.pk}&amp;compare=yes" in page
    assert "Conflicts</h2>" not in page
    assert "Conflicts</h2>" in text_of(browser.get(at, {"snapshot": newer.pk, "compare": "yes"}))
    monkeypatch.undo()
    document["nodes"].append(factories.node("of-this-test-only-too"))
    newer = factories.snapshot(document)
    assert unpacked()


def test_the_page_shows_the_configuration_lines_that_would_differ(
    browser: Client, scenario: Scenario, newer: Snapshot
) -> None:
    conf_update(scenario=scenario, text=f"# mine\n{factories.CONF}", expected_revision=3)
    page = text_of(browser.get(f"/scenarios/{scenario.pk}/carry-over/", {"snapshot": newer.pk}))
    assert '<span class="lines__line lines__line--in">+# mine</span>' in page


def test_the_same_change_on_both_sides_is_said_to_agree(browser: Client, db: None) -> None:
    scenario = factories.scenario()
    queue_update(scenario=scenario, name="waits", patch={"weight": 9}, expected_revision=1)
    document = factories.cluster()
    document["queues"][1]["spec"]["weight"] = 9
    newer = factories.snapshot(document)
    page = text_of(browser.get(f"/scenarios/{scenario.pk}/carry-over/", {"snapshot": newer.pk}))
    assert "No change of yours contradicts a change in the cluster." in page
    assert "The branch would be equal to the newer snapshot." in page


def test_the_page_says_how_many_fields_of_an_object_it_leaves_out(
    browser: Client, scenario: Scenario, newer: Snapshot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(changes, "SHOWN_FIELDS", 1)
    smaller = {"status": {"allocatable": {"cpu": "3", "memory": "5Gi", "pods": "7"}}}
    nodes_update(scenario=scenario, names=["n0"], patch=lambda node: smaller, expected_revision=3)
    page = text_of(browser.get(f"/scenarios/{scenario.pk}/carry-over/", {"snapshot": newer.pk}))
    assert "and 2 more fields; the API lists all" in page


def test_a_viewer_sees_the_rebase_but_cannot_start_it(
    client: Client, scenario: Scenario, newer: Snapshot
) -> None:
    client.force_login(factories.user("viewer", role=Role.VIEWER))
    at = f"/scenarios/{scenario.pk}/carry-over/"
    assert "Rebase</button>" not in text_of(client.get(at, {"snapshot": newer.pk}))
    assert client.post(at, {"snapshot": newer.pk, "revision": "3"}).status_code == 403


# one conflict at a time


def rebased_with(edit: Json, later: Json, take: str) -> tuple[list[tuple[str, str, str]], State]:
    """Return the conflicts between own object changes and a later snapshot, and the resulting state."""
    document = factories.cluster()
    base, newer = side(document), side({**document, **later})
    state = initial_state(base)
    state.objects = dict(edit)
    found = resolved_rebase(base, state, newer, take)
    return [(one.what, one.kind, one.key) for one in found.conflicts], found.state


@pytest.mark.django_db
def test_a_queue_added_again_is_merged_by_field() -> None:
    scenario = factories.scenario()
    queue_remove(scenario=scenario, name="waits", subtree=False, expected_revision=1)
    spec = {"name": "waits", "weight": 5, "reclaimable": True, "state": "Open"}
    queue_create(scenario=scenario, spec=spec, expected_revision=2)
    document = factories.cluster()
    document["queues"][1]["spec"]["priority"] = 9
    document["queues"][1]["spec"]["weight"] = 7
    snapshot = factories.snapshot(document)
    conflicts = rebases.rebase_of(scenario, snapshot, {}).conflicts
    assert [
        (one.what, one.key, one.field, one.ours, one.theirs) for one in conflicts if one.field == "weight"
    ] == [("both_changed", "waits", "weight", 5, 7)]
    for take, weight in ((OURS, 5), (THEIRS, 7)):
        carried = rebases.rebase_of(scenario, snapshot, {conflict.id: take for conflict in conflicts})
        assert not carried.problems
        assert (carried.state.queues["waits"].weight, carried.state.queues["waits"].priority) == (weight, 9)


def test_a_workload_changed_here_and_removed_there_is_one_conflict() -> None:
    names = [f"wait-{number}" for number in range(4)]
    pods = {("pods", f"default/{name}"): factories.pod(name, "wait", cpu="2") for name in names}
    gone = {"pods": [], "podgroups": []}
    conflicts, state = rebased_with(pods, gone, OURS)
    assert conflicts == [("removed_there", "podgroups", "default/wait")]
    assert state.objects == pods
    assert rebased_with(pods, gone, THEIRS)[1].objects == {}


def test_metadata_written_by_the_cluster_is_no_conflict() -> None:
    node = factories.node("n1")
    node["metadata"]["resourceVersion"] = "77"
    assert rebased_with({("nodes", "n1"): None}, {"nodes": [factories.node("n0"), node]}, OURS)[0] == []
    bigger = factories.node("n1", cpu="16")
    later = {"nodes": [factories.node("n0"), bigger]}
    assert rebased_with({("nodes", "n1"): None}, later, OURS)[0] == [("removed_here", "nodes", "n1")]
