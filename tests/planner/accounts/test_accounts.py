"""Tokens that may do so much, invitations, slow log-in, members and what is noted of them."""

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone
from knox.models import AuthToken
from rest_framework.test import APIClient

from planner.accounts.models import Event, Invitation, Membership, Role, TokenDetails, User
from planner.accounts.services.invitations import account_by_invitation, invitation_accept, invitation_create
from planner.accounts.services.logins import BY_ADDRESS_AND_ACCOUNT
from planner.accounts.services.members import member_change, member_remove, member_set
from planner.accounts.services.tokens import token_make
from planner.errors import Invalid, RoleTooLow
from tests import factories
from tests.planner.pages import text_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def admin() -> User:
    return factories.user("admin", role=Role.ADMIN)


def script(user: User, scope: Role) -> APIClient:
    _, text = token_make(user=user, scope=scope)
    client = APIClient(HTTP_AUTHORIZATION=f"Token {text}")
    client.default_format = "json"
    return client


# Tokens


def test_a_token_may_do_no_more_than_its_scope(admin: User) -> None:
    scenario = factories.scenario()
    edit = f"/api/v1/scenarios/{scenario.pk}/queues/waits/"
    member = f"/api/v1/workspaces/{scenario.workspace_id}/members/admin/"
    told = {}
    for scope in Role:
        client = script(admin, scope)
        told[scope] = [
            client.get("/api/v1/scenarios/").status_code,
            client.patch(f"{edit}?dry_run=1", {"weight": 2}, headers={"If-Match": "1"}).status_code,
            client.put(f"{member}?dry_run=1", {"role": "admin"}).status_code,
        ]
    assert told == {
        Role.VIEWER: [200, 403, 403],
        Role.EDITOR: [200, 200, 403],
        Role.ADMIN: [200, 200, 200],
    }


def test_a_scope_gives_no_role_that_the_account_does_not_have() -> None:
    viewer = factories.user("viewer", role=Role.VIEWER)
    scenario = factories.scenario()
    answer = script(viewer, Role.ADMIN).post(f"/api/v1/scenarios/{scenario.pk}/runs/")
    assert answer.status_code == 403


def test_a_token_of_scope_admin_makes_and_revokes_tokens(admin: User) -> None:
    client = script(admin, Role.ADMIN)
    made = client.post("/api/v1/tokens/", {"scope": "viewer", "name": "report", "days": 7})
    assert made.status_code == 201
    body = made.json()
    assert body["text"].startswith(body["id"])
    reader = APIClient(HTTP_AUTHORIZATION=f"Token {body['text']}")
    assert reader.get("/api/v1/scenarios/").status_code == 200
    listed = {row["id"]: row for row in client.get("/api/v1/tokens/").json()["results"]}
    assert listed[body["id"]]["last_used"] is not None
    assert "text" not in listed[body["id"]]
    assert client.delete(f"/api/v1/tokens/{body['id']}/").status_code == 204
    assert reader.get("/api/v1/scenarios/").status_code == 401


def test_a_token_ends(admin: User) -> None:
    client = script(admin, Role.VIEWER)
    AuthToken.objects.update(expiry=timezone.now() - timedelta(seconds=1))
    assert client.get("/api/v1/scenarios/").status_code == 401


def test_the_last_use_is_written_once_a_minute(admin: User) -> None:
    client = script(admin, Role.VIEWER)
    client.get("/api/v1/scenarios/")
    first = TokenDetails.objects.get().last_used
    client.get("/api/v1/scenarios/")
    assert TokenDetails.objects.get().last_used == first
    TokenDetails.objects.update(last_used=timezone.now() - timedelta(minutes=2))
    client.get("/api/v1/scenarios/")
    assert TokenDetails.objects.get().last_used > first


def test_the_account_page_shows_what_a_token_may_and_when_it_was_used(browser: Client) -> None:
    page = text_of(browser.post("/account/tokens/", {"name": "nightly", "scope": "viewer", "days": "7"}))
    assert "Copy the token now" in page
    assert "nightly" in page
    details = TokenDetails.objects.get()
    assert (details.scope, details.last_used) == ("viewer", None)
    assert details.token.expiry - details.token.created == pytest.approx(
        timedelta(days=7), abs=timedelta(seconds=5)
    )


@pytest.mark.parametrize(
    ("typed", "says"),
    [
        ({"name": "x" * 101}, "Ensure this value has at most 100 characters"),
        ({"scope": "root"}, "Select a valid choice"),
        ({"days": "0"}, "Choose 7, 30, 90 or 365 days"),
        ({"days": "9" * 5000}, "Choose 7, 30, 90 or 365 days"),
    ],
)
def test_a_token_that_was_typed_wrong_is_not_made(browser: Client, typed: dict[str, str], says: str) -> None:
    answer = browser.post("/account/tokens/", {"name": "nightly", "scope": "viewer", "days": "7", **typed})
    assert answer.status_code == 422
    assert says in text_of(answer)
    assert not TokenDetails.objects.exists()


# Invitations


def test_a_link_makes_an_account_and_a_member_once(client: Client, admin: User) -> None:
    _, secret = invitation_create(workspace=factories.workspace(), role=Role.EDITOR, user=admin)
    address = f"/invitations/{secret}/"
    assert "admin invites you as editor" in text_of(client.get(address))
    weak = client.post(address, {"username": "new", "password": "password"})
    assert weak.status_code == 422
    assert "too short" in text_of(weak)
    joined = client.post(address, {"username": "new", "password": "an-uncommon-phrase-7"})
    assert joined.status_code == 302
    assert Membership.objects.get(user__username="new").role == Role.EDITOR
    assert client.get("/").status_code == 200
    assert client.get(address).status_code == 410
    with pytest.raises(Invalid):
        account_by_invitation(secret=secret, username="third", password="an-uncommon-phrase-7")
    assert not User.objects.filter(username="third").exists()


def test_every_problem_of_a_new_account_stands_at_its_field(client: Client, admin: User) -> None:
    _, secret = invitation_create(workspace=factories.workspace(), role=Role.EDITOR, user=admin)
    address = f"/invitations/{secret}/"
    page = client.post(address, {"username": "no spaces", "password": "short"})
    assert page.status_code == 422
    form = page.context["form"]
    assert "Enter a valid username" in form.errors["username"][0]
    assert "too short" in form.errors["password"][0]
    assert form["username"].value() == "no spaces"
    assert 'value="short"' not in page.content.decode()
    assert client.post(address, {}).context["form"].errors.keys() == {"username", "password"}
    assert client.post(address, {"username": "admin", "password": "an-uncommon-phrase-7"}).status_code == 422
    assert User.objects.count() == 1


def test_an_account_that_is_there_joins_and_keeps_a_higher_role(client: Client, admin: User) -> None:
    outsider = factories.user("outsider", role=None)
    _, secret = invitation_create(workspace=factories.workspace(), role=Role.VIEWER, user=admin)
    client.force_login(outsider)
    client.post(f"/invitations/{secret}/")
    assert outsider.memberships.get().role == Role.VIEWER
    _, second = invitation_create(workspace=factories.workspace(), role=Role.VIEWER, user=admin)
    invitation_accept(secret=second, user=admin)
    assert admin.memberships.get().role == Role.ADMIN


def test_an_old_or_taken_back_link_is_gone(client: Client, admin: User) -> None:
    invitation, secret = invitation_create(workspace=factories.workspace(), role=Role.VIEWER, user=admin)
    Invitation.objects.update(expires=timezone.now())
    assert client.get(f"/invitations/{secret}/").status_code == 410
    client.force_login(admin)
    _, other = invitation_create(workspace=factories.workspace(), role=Role.VIEWER, user=admin)
    at = f"/workspaces/{invitation.workspace_id}/invitations/{Invitation.objects.latest('created').pk}/"
    assert client.post(at).status_code == 302
    assert client.get(f"/invitations/{other}/").status_code == 410


def test_only_admins_invite(admin: User) -> None:
    editor = factories.user("editor")
    with pytest.raises(RoleTooLow):
        invitation_create(workspace=factories.workspace(), role=Role.VIEWER, user=editor)
    at = f"/api/v1/workspaces/{factories.workspace().pk}/invitations/"
    made = script(admin, Role.ADMIN).post(at, {"role": "viewer"})
    assert made.status_code == 201
    assert "/invitations/" in made.json()["address"]


# Logging in


def test_after_some_wrong_passwords_even_the_right_one_waits(client: Client) -> None:
    factories.user("editor")
    for _ in range(BY_ADDRESS_AND_ACCOUNT.free):
        assert "Wrong user name or password" in text_of(
            client.post("/login/", {"username": "editor", "password": "wrong"})
        )
    right = {"username": "editor", "password": "a-long-test-password"}
    paused = client.post("/login/", right)
    assert (paused.status_code, paused["Retry-After"]) == (429, "5")
    assert "Too many attempts to log in. Try again in 5 seconds." in text_of(paused)
    elsewhere = client.post("/login/", right, REMOTE_ADDR="192.0.2.7")
    assert elsewhere.status_code == 302


# Members and their history


def test_an_admin_changes_and_removes_members_by_page(client: Client, admin: User) -> None:
    factories.user("colleague", role=Role.VIEWER)
    client.force_login(admin)
    at = f"/workspaces/{factories.workspace().pk}/members/"
    client.post(f"{at}colleague/", {"role": "editor", "do": "change"})
    assert Membership.objects.get(user__username="colleague").role == Role.EDITOR
    client.post(f"{at}colleague/", {"do": "remove"})
    assert "colleague" not in text_of(client.get(at))
    client.post(f"{at}admin/", {"do": "remove"})
    assert "needs at least one admin" in text_of(client.get("/account/"))


def test_what_was_typed_about_members_wrongly_is_said_and_kept(client: Client, admin: User) -> None:
    factories.user("colleague", role=Role.VIEWER)
    client.force_login(admin)
    at = f"/workspaces/{factories.workspace().pk}/"
    page = client.post(f"{at}invitations/", {"username": "x" * 151, "role": "root"})
    assert page.status_code == 422
    assert page.context["invite"].errors.keys() == {"username", "role"}
    assert page.context["invite"]["username"].value() == "x" * 151
    assert not Invitation.objects.exists()
    page = client.post(f"{at}members/colleague/", {"role": "root", "do": "change"})
    assert page.status_code == 422
    assert "root is not one of the available choices" in text_of(page)
    assert Membership.objects.get(user__username="colleague").role == Role.VIEWER


def test_a_viewer_sees_members_and_changes_none(client: Client, admin: User) -> None:
    client.force_login(factories.user("viewer", role=Role.VIEWER))
    at = f"/workspaces/{factories.workspace().pk}/"
    page = text_of(client.get(f"{at}members/"))
    assert "admin" in page
    assert "Make a link" not in page
    assert client.post(f"{at}members/admin/", {"do": "remove"}).status_code == 403
    assert client.post(f"{at}invitations/", {"role": "admin"}).status_code == 403


def test_what_happened_is_kept_when_the_account_is_gone(client: Client, admin: User) -> None:
    colleague = factories.user("colleague", role=None)
    member_set(workspace=factories.workspace(), username="colleague", role=Role.VIEWER)
    member_change(membership=colleague.memberships.get(), role=Role.EDITOR, user=admin)
    script(colleague, Role.VIEWER)
    member_remove(membership=colleague.memberships.get(), user=admin)
    colleague.delete()
    at = f"/api/v1/workspaces/{factories.workspace().pk}/history/"
    rows = script(admin, Role.VIEWER).get(f"{at}?ordering=created").json()["results"]
    told = [(row["actor"], row["kind"], row["action"], row["before"], row["after"]) for row in rows]
    assert told[:4] == [
        ("", "member", "made", "", "viewer"),
        ("admin", "member", "changed", "viewer", "editor"),
        ("colleague", "token", "made", "", "viewer"),
        ("admin", "member", "removed", "editor", ""),
    ]
    client.force_login(admin)
    page = text_of(client.get(f"/workspaces/{factories.workspace().pk}/history/?kind=token&words=colleague"))
    assert "1 event" in page
    asked = "kind=token&words=colleague"
    assert f"{at}?format=csv&{asked}" in page.replace("&amp;", "&")
    assert [row["action"] for row in script(admin, Role.VIEWER).get(f"{at}?{asked}").json()["results"]] == [
        "made"
    ]
    assert Event.objects.filter(subject="colleague").count() == 3
