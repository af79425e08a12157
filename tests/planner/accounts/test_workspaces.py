"""Creating, renaming, switching and leaving workspaces, by page and by API; the workspace of an import."""

import json

import pytest
from django.core.management import call_command
from django.test import Client
from rest_framework.test import APIClient

from planner.accounts.models import Event, Membership, Role, User, Workspace
from planner.accounts.services.workspaces import workspace_create
from planner.clusters.models import Snapshot
from planner.scenarios.models import Scenario
from tests import factories
from tests.planner.pages import text_of

pytestmark = pytest.mark.django_db


def token_client(account: User, scope: Role = Role.ADMIN) -> APIClient:
    client = APIClient(HTTP_AUTHORIZATION=f"Token {factories.token(account, scope)}")
    client.default_format = "json"
    return client


@pytest.fixture
def second(editor: User) -> Workspace:
    """Another workspace of the editor."""
    return workspace_create(name="second", user=editor).workspace


def test_a_workspace_is_created_renamed_and_left_on_the_pages(browser: Client, editor: User) -> None:
    made = browser.post("/workspaces/", {"name": " research "}, follow=True)
    assert "You now work in research" in text_of(made)
    member = editor.memberships.get(workspace__name="research")
    assert member.role == Role.ADMIN
    at = f"/workspaces/{member.workspace_id}/"
    browser.post(f"{at}rename/", {"name": "studies"})
    assert "Members of studies" in text_of(browser.get(f"{at}members/"))
    assert "needs at least one admin" in text_of(browser.post(f"{at}leave/", follow=True))
    Membership.objects.create(workspace=member.workspace, user=factories.user("second"), role=Role.ADMIN)
    assert "You left studies" in text_of(browser.post(f"{at}leave/", follow=True))
    assert list(editor.memberships.values_list("workspace__name", flat=True)) == ["default"]
    noted = (
        Event.objects.filter(kind="workspace").order_by("created").values_list("action", "before", "after")
    )
    assert list(noted) == [("made", "", ""), ("renamed", "research", "studies")]


@pytest.mark.parametrize("name", ["", "  ", "x" * 101, "a\x00b", "two\nlines", "default"])
def test_an_invalid_or_duplicate_workspace_name_is_refused(browser: Client, editor: User, name: str) -> None:
    browser.post("/workspaces/", {"name": name})
    assert Workspace.objects.count() == 1
    assert token_client(editor).post("/api/v1/workspaces/", {"name": name}).status_code in (400, 422)


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("", "This field is required"),
        ("x" * 101, "at most 100 characters"),
        ("default", "You are already a member of a workspace named default"),
        ("two\nlines", "A name can contain only printable characters"),
    ],
)
def test_a_refused_workspace_name_stays_in_its_field_with_the_error(
    browser: Client, editor: User, name: str, says: str
) -> None:
    mine = workspace_create(name="mine", user=editor).workspace
    for address in ("/workspaces/", f"/workspaces/{mine.pk}/rename/"):
        page = browser.post(address, {"name": name})
        assert page.status_code == 422
        assert says in text_of(page)
        assert page.context["workspace"]["name"].value() == name
        assert page.context["workspace"].errors.keys() == {"name"}
    assert Workspace.objects.get(pk=mine.pk).name == "mine"
    assert "Members of mine" in text_of(page)


def test_a_name_of_another_users_workspace_may_be_reused(editor: User) -> None:
    workspace_create(name="secret project", user=factories.user("other", role=None))
    assert token_client(editor).post("/api/v1/workspaces/", {"name": "secret project"}).status_code == 201


def test_the_home_page_shows_one_workspace_at_a_time(browser: Client, second: Workspace) -> None:
    factories.scenario(name="in the default one")
    assert "in the default one" in text_of(browser.get("/"))
    page = text_of(browser.post(f"/workspaces/{second.pk}/switch/", follow=True))
    assert "Workspace second" in page
    assert "in the default one" not in page


def test_another_users_workspace_is_not_found(browser: Client) -> None:
    others = workspace_create(name="others", user=factories.user("other", role=None)).workspace
    for way in ("switch", "rename", "leave", "members"):
        answer = browser.post(f"/workspaces/{others.pk}/{way}/", {"name": "mine"})
        assert answer.status_code in (404, 405), way
    assert Workspace.objects.get(pk=others.pk).name == "others"


def test_only_admins_rename_a_workspace(browser: Client, editor: User) -> None:
    default = factories.workspace()
    assert browser.post(f"/workspaces/{default.pk}/rename/", {"name": "mine"}).status_code == 403
    assert (
        token_client(editor).patch(f"/api/v1/workspaces/{default.pk}/", {"name": "mine"}).status_code == 403
    )
    mine = workspace_create(name="mine", user=editor).workspace
    at = f"/api/v1/workspaces/{mine.pk}/"
    assert token_client(editor, Role.EDITOR).patch(at, {"name": "ours"}).status_code == 403
    assert token_client(editor).patch(at, {"name": "ours"}).json()["name"] == "ours"
    assert token_client(editor).get(at).json() == {"id": str(mine.pk), "name": "ours", "role": "admin"}


def test_a_token_below_admin_cannot_create_a_workspace(editor: User) -> None:
    assert token_client(editor, Role.EDITOR).post("/api/v1/workspaces/", {"name": "new"}).status_code == 403


def test_an_import_page_saves_to_the_chosen_workspace(browser: Client, second: Workspace) -> None:
    text = json.dumps(factories.cluster())
    page = text_of(browser.get("/import/"))
    assert f'value="{factories.workspace().pk}" selected' in page
    preview = browser.post("/import/", {"documents": text, "name": "a", "workspace": str(second.pk)})
    assert f'value="{second.pk}" selected' in text_of(preview)
    browser.post("/import/save/", {"draft": preview.context["draft"]})
    assert Scenario.objects.get().workspace == second
    browser.post("/sample/")
    assert Snapshot.objects.latest("created").workspace == second


def test_an_api_import_saves_to_the_requested_workspace(editor: User, second: Workspace) -> None:
    client, body = token_client(editor), {"name": "a", "scenario": factories.cluster()}
    made = client.post(f"/api/v1/snapshots/?workspace={second.pk}", body)
    assert made.status_code == 201
    assert Snapshot.objects.get().workspace == second
    client.post("/api/v1/snapshots/", body)
    assert Snapshot.objects.latest("created").workspace == factories.workspace()
    others = workspace_create(name="others", user=factories.user("other", role=None)).workspace
    for unknown in (others.pk, "0" * 32):
        refused = client.post(f"/api/v1/snapshots/?workspace={unknown}", body)
        assert refused.status_code == 422
        assert refused.json()["problems"][0]["rule"] == "workspace.unknown"
    assert client.post("/api/v1/snapshots/?workspace=second", body).status_code == 422
    Membership.objects.filter(workspace=second).update(role=Role.VIEWER)
    assert client.post(f"/api/v1/snapshots/?workspace={second.pk}", body).status_code == 403
    assert Snapshot.objects.count() == 2


def test_the_member_command_requires_an_id_when_workspace_names_are_ambiguous(
    editor: User, second: Workspace
) -> None:
    Workspace.objects.create(name="second")
    with pytest.raises(Exception, match="Several workspaces are named 'second'"):
        call_command("member", "editor", "viewer", "--workspace", "second")
    call_command("member", "editor", "viewer", "--workspace", str(factories.workspace().pk))
    assert editor.memberships.get(workspace=factories.workspace()).role == Role.VIEWER


def test_the_members_link_redirects_to_the_current_workspace(browser: Client, client: Client) -> None:
    answer = browser.get("/members/")
    assert answer.status_code == 302
    assert answer.headers["Location"] == f"/workspaces/{factories.workspace().pk}/members/"
    client.force_login(factories.user("outsider", role=None))
    assert client.get("/members/").status_code == 404
