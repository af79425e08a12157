"""The tab that lists and reverts changes, and the page of an older revision."""

import re

import pytest
from django.http import HttpResponse
from django.test import Client

from planner.accounts.models import Role
from planner.scenarios.models import Scenario
from planner.scenarios.services.objects import objects_write
from planner.scenarios.services.queues import queue_create, queue_update
from planner.scenarios.services.scenarios import conf_update, release_update
from tests import factories
from tests.planner.pages import text_of


@pytest.fixture
def scenario(db: None) -> Scenario:
    scenario = factories.scenario()
    editor = factories.user()
    patch = {"weight": 3, "name": "team"}
    queue_update(scenario=scenario, name="waits", patch=patch, expected_revision=1, user=editor)
    queue_create(scenario=scenario, spec={"name": "new", "parent": "team"}, expected_revision=2, user=editor)
    text = factories.CONF.replace("reclaim", "backfill")
    conf_update(scenario=scenario, text=text, expected_revision=3, user=editor)
    node = factories.node("n0") | {"spec": {"unschedulable": True}}
    wanted = {("nodes", "n0"): node, ("nodes", "n1"): None}
    objects_write(scenario=scenario, wanted=wanted, expected_revision=4)
    return scenario


def at(scenario: Scenario, rest: str = "changes/") -> str:
    return f"/scenarios/{scenario.pk}/{rest}"


def post(browser: Client, scenario: Scenario, rest: str, revision: int = 5, **typed: str) -> HttpResponse:
    return browser.post(at(scenario, rest), {"revision": str(revision), **typed})


def plain(page: str) -> str:
    """Return the text of a page without its tags."""
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", page))


def test_differences_are_listed_by_queue_and_field(browser: Client, scenario: Scenario) -> None:
    page = plain(text_of(browser.get(at(scenario))))
    assert "Queue team changed Revert" not in page
    for shown in (
        "Queue team changed name waits team Revert weight 1 3 Revert",
        "Queue new added Revert parent not set team",
        "-actions: &quot;enqueue, allocate, reclaim&quot; +actions: &quot;enqueue, allocate, backfill&quot;",
        "Node n0 changed Revert spec.unschedulable not set true",
        "Node n1 removed Revert",
        "6 differences",
    ):
        assert shown in page


def test_a_change_has_the_same_text_in_every_history(browser: Client, scenario: Scenario) -> None:
    release_update(scenario=scenario, name="v1.14.4", expected_revision=5)
    workspace = f"/workspaces/{scenario.workspace_id}/history/"
    for address in (at(scenario), at(scenario, ""), workspace):
        page = plain(text_of(browser.get(address)))
        assert re.search(r"[Rr]elease[^–]* as imported v1\.14\.4 ", page), (address, page[-1500:])
        assert re.search(r"onfiguration edited ", page), address


def test_the_page_makes_a_bounded_number_of_queries(
    browser: Client, scenario: Scenario, django_assert_max_num_queries
) -> None:
    browser.get(at(scenario))
    with django_assert_max_num_queries(14):
        browser.get(at(scenario))


def test_a_single_difference_is_reverted(browser: Client, scenario: Scenario) -> None:
    answer = post(browser, scenario, "changes/put-back/", kind="queues", key="team", field="weight")
    assert answer.headers["Location"] == at(scenario) + "?base=snapshot"
    assert scenario.queues.get(name="team").weight == 1
    assert "Reverted queue team weight: revision 6." in text_of(browser.get(at(scenario)))
    post(browser, scenario, "changes/put-back/", 6, kind="nodes", key="n1", field="")
    assert list(scenario.object_changes.values_list("key", flat=True)) == ["n0"]
    assert post(browser, scenario, "changes/put-back/", 7, kind="nodes", key="n1").status_code == 404


def test_undo_and_redo_are_not_limited_to_own_changes(browser: Client, scenario: Scenario) -> None:
    assert post(browser, scenario, "changes/undo/").status_code == 302
    assert not scenario.object_changes.exists()
    assert "Undo revision 4" in plain(text_of(browser.get(at(scenario))))
    assert post(browser, scenario, "changes/redo/", 6).status_code == 302
    assert scenario.object_changes.count() == 2
    stale = post(browser, scenario, "changes/undo/", 6)
    assert stale.status_code == 412
    assert "You edited revision 6; it is now at revision 7." in text_of(stale)
    assert browser.post(at(scenario, "changes/sideways/")).status_code == 404


def test_a_change_is_reverted_unless_it_was_changed_since(browser: Client, scenario: Scenario) -> None:
    rename = scenario.changes.get(field="name")
    assert post(browser, scenario, f"changes/{rename.pk}/revert/").status_code == 302
    assert scenario.queues.filter(name="waits").exists()
    again = post(browser, scenario, f"changes/{rename.pk}/revert/", 6)
    assert again.status_code == 422
    assert "It has been changed since." in text_of(again)


def test_a_revision_of_too_many_digits_is_ignored(browser: Client, scenario: Scenario) -> None:
    digits = {"revision": "9" * 5000}
    browser.post(at(scenario, "branch/"), {**digits, "name": "all of it"})
    assert Scenario.objects.get(name="all of it").parent_revision == scenario.revision
    assert browser.post(at(scenario, "nodes/add/"), {**digits, "prefix": "n", "count": "1"}).status_code < 500


def test_an_overlong_branch_name_is_refused_not_truncated(browser: Client, scenario: Scenario) -> None:
    answer = browser.post(at(scenario, "branch/"), {"name": "n" * 254}, follow=True)
    assert "No branch was created. Name: Ensure this value has at most 253 characters" in text_of(answer)
    assert Scenario.objects.count() == 1


def test_an_older_revision_is_shown_and_branched(browser: Client, scenario: Scenario) -> None:
    page = plain(text_of(browser.get(at(scenario, "revisions/2/"))))
    assert "Revision 2 of 5 (read-only). Made by editor," in page
    assert "Queue new" not in page
    assert "team – 3 –" in page
    last = plain(text_of(browser.get(at(scenario, "revisions/5/"))))
    assert "Made by system," in last
    assert "Node n1 removed" in last
    assert browser.get(at(scenario, "revisions/6/")).status_code == 404
    made = post(browser, scenario, "branch/", 2, name="other")
    branch = Scenario.objects.get(name="other")
    assert made.headers["Location"] == f"/scenarios/{branch.pk}/"
    assert (branch.parent, branch.parent_revision) == (scenario, 2)
    head = plain(text_of(browser.get(at(branch, "changes/?base=start"))))
    assert "branch of what if at revision 2" in head
    assert "No differences" in head
    assert "identical to its parent at revision 2." in head


def test_a_revision_writes_amounts_as_everywhere(browser: Client) -> None:
    deserved = {"cpu": "1500m", "nvidia.com/gpu": "1", "memory": "3Gi"}
    queues = [factories.queue("busy", deserved=deserved), factories.queue("waits")]
    scenario = factories.scenario(document={**factories.cluster(), "queues": queues})
    queue_update(scenario=scenario, name="waits", patch={"weight": 3}, expected_revision=1)
    page = plain(text_of(browser.get(at(scenario, "revisions/1/"))))
    assert "1.5 cores, 3 GiB, 1 GPU" in re.sub(" ,", ",", page)


def test_a_viewer_reads_changes_but_cannot_revert_or_branch(client: Client, scenario: Scenario) -> None:
    client.force_login(factories.user("viewer", role=Role.VIEWER))
    for page in ("changes/", "revisions/2/"):
        content = text_of(client.get(at(scenario, page)))
        for offer in ("Revert</button>", "Revert</button>", "Undo revision", "Branch"):
            assert offer not in content
    for address in ("changes/undo/", "branch/", f"changes/{scenario.changes.first().pk}/revert/"):
        assert post(client, scenario, address).status_code == 403
    client.force_login(factories.user("outsider", role=None))
    assert client.get(at(scenario)).status_code == 404
    assert client.get(at(scenario, "revisions/1/")).status_code == 404
