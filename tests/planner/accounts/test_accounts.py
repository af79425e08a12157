"""Token scopes, invitations, log-in throttling, members and the workspace history."""

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from knox.models import AuthToken
from rest_framework.request import Request
from rest_framework.test import APIClient, APIRequestFactory

from planner.accounts.models import Event, Invitation, Membership, Role, TokenDetails, User
from planner.accounts.selectors.workspaces import events
from planner.accounts.services.invitations import (
    account_by_invitation,
    invitation_accept,
    invitation_create,
    invitation_offer,
)
from planner.accounts.services.logins import BY_ADDRESS_AND_ACCOUNT
from planner.accounts.services.members import member_change, member_remove, member_set
from planner.accounts.services.tokens import token_make
from planner.api.authentication import ApiToken
from planner.errors import Invalid, RoleTooLow
from tests import factories
from tests.planner.pages import text_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def admin() -> User:
    return factories.user("admin", role=Role.ADMIN)


def token_client(user: User, scope: Role) -> APIClient:
    _, text = token_make(user=user, scope=scope)
    client = APIClient(HTTP_AUTHORIZATION=f"Token {text}")
    client.default_format = "json"
    return client


# Tokens


def test_a_token_cannot_exceed_its_scope(admin: User) -> None:
    scenario = factories.scenario()
    edit = f"/api/v1/scenarios/{scenario.pk}/queues/waits/"
    member = f"/api/v1/workspaces/{scenario.workspace_id}/members/admin/"
    actual = {}
    for scope in Role:
        client = token_client(admin, scope)
        actual[scope] = [
            client.get("/api/v1/scenarios/").status_code,
            client.patch(f"{edit}?dry_run=1", {"weight": 2}, headers={"If-Match": "1"}).status_code,
            client.put(f"{member}?dry_run=1", {"role": "admin"}).status_code,
        ]
    assert actual == {
        Role.VIEWER: [200, 403, 403],
        Role.EDITOR: [200, 200, 403],
        Role.ADMIN: [200, 200, 200],
    }


def test_a_token_scope_does_not_raise_the_role_of_its_account() -> None:
    viewer = factories.user("viewer", role=Role.VIEWER)
    scenario = factories.scenario()
    answer = token_client(viewer, Role.ADMIN).post(f"/api/v1/scenarios/{scenario.pk}/runs/")
    assert answer.status_code == 403


def test_an_admin_token_creates_and_revokes_tokens(admin: User) -> None:
    client = token_client(admin, Role.ADMIN)
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


def test_an_expired_token_is_rejected(admin: User) -> None:
    client = token_client(admin, Role.VIEWER)
    AuthToken.objects.update(expiry=timezone.now() - timedelta(seconds=1))
    assert client.get("/api/v1/scenarios/").status_code == 401


def test_a_token_of_a_disabled_account_is_rejected_and_its_use_not_recorded(admin: User) -> None:
    client = token_client(admin, Role.VIEWER)
    User.objects.update(is_active=False)
    assert client.get("/api/v1/scenarios/").status_code == 401
    assert TokenDetails.objects.get().last_used is None


def test_one_query_finds_the_token_of_a_call_with_its_scope_and_account(
    admin: User, django_assert_num_queries: Any
) -> None:
    _, text = token_make(user=admin, scope=Role.VIEWER)
    TokenDetails.objects.update(last_used=timezone.now())
    request = Request(APIRequestFactory().get("/", HTTP_AUTHORIZATION=f"Token {text}"))
    with django_assert_num_queries(1):
        user, token = ApiToken().authenticate(request)
        assert (user.username, token.details.scope) == ("admin", "viewer")


def test_the_last_use_of_a_token_is_recorded_once_a_minute(admin: User) -> None:
    client = token_client(admin, Role.VIEWER)
    client.get("/api/v1/scenarios/")
    first = TokenDetails.objects.get().last_used
    client.get("/api/v1/scenarios/")
    assert TokenDetails.objects.get().last_used == first
    TokenDetails.objects.update(last_used=timezone.now() - timedelta(minutes=2))
    client.get("/api/v1/scenarios/")
    assert TokenDetails.objects.get().last_used > first


def test_the_account_page_creates_a_token_with_its_scope_and_expiry(browser: Client) -> None:
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
def test_an_invalid_token_form_creates_no_token(browser: Client, typed: dict[str, str], says: str) -> None:
    answer = browser.post("/account/tokens/", {"name": "nightly", "scope": "viewer", "days": "7", **typed})
    assert answer.status_code == 422
    assert says in text_of(answer)
    assert not TokenDetails.objects.exists()


# Invitations


def test_an_invitation_link_creates_one_account_and_membership(client: Client, admin: User) -> None:
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


def test_the_sign_up_form_shows_each_error_at_its_field(client: Client, admin: User) -> None:
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


def test_an_existing_account_joins_and_keeps_its_higher_role(client: Client, admin: User) -> None:
    outsider = factories.user("outsider", role=None)
    _, secret = invitation_create(workspace=factories.workspace(), role=Role.VIEWER, user=admin)
    client.force_login(outsider)
    client.post(f"/invitations/{secret}/")
    assert outsider.memberships.get().role == Role.VIEWER
    _, second = invitation_create(workspace=factories.workspace(), role=Role.VIEWER, user=admin)
    invitation_accept(secret=second, user=admin)
    assert admin.memberships.get().role == Role.ADMIN


def test_an_expired_or_revoked_invitation_link_returns_410(client: Client, admin: User) -> None:
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
    made = token_client(admin, Role.ADMIN).post(at, {"role": "viewer"})
    assert made.status_code == 201
    assert "/invitations/" in made.json()["address"]


def test_a_token_that_is_too_narrow_is_told_from_a_role_that_is(admin: User) -> None:
    address = f"/api/v1/workspaces/{factories.workspace().pk}/invitations/"
    scope = "This requires a token with scope {}; this one has scope viewer."
    for path, needed, sent in (
        (address, Role.ADMIN, {"role": "viewer"}),
        ("/api/v1/tokens/", Role.ADMIN, {"scope": "viewer"}),
        ("/api/v1/traces/", Role.EDITOR, {"name": "t", "text": "queue"}),
    ):
        refused = token_client(admin, Role.VIEWER).post(path, sent)
        assert refused.status_code == 403
        assert scope.format(needed) in refused.json()["message"], path
    refused = token_client(factories.user("editor"), Role.VIEWER).post(address, {"role": "viewer"})
    assert "This requires the role admin; you are editor." in refused.json()["message"]


# Logging in


def test_repeated_wrong_passwords_delay_even_the_right_one(client: Client) -> None:
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


def test_an_admin_changes_and_removes_members_on_the_page(client: Client, admin: User) -> None:
    factories.user("colleague", role=Role.VIEWER)
    client.force_login(admin)
    at = f"/workspaces/{factories.workspace().pk}/members/"
    client.post(f"{at}colleague/", {"role": "editor", "do": "change"})
    assert Membership.objects.get(user__username="colleague").role == Role.EDITOR
    client.post(f"{at}colleague/", {"do": "remove"})
    assert "colleague" not in text_of(client.get(at))
    client.post(f"{at}admin/", {"do": "remove"})
    assert "needs at least one admin" in text_of(client.get("/account/"))


def test_an_invalid_member_form_shows_its_errors_and_keeps_the_input(client: Client, admin: User) -> None:
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


def test_a_viewer_sees_members_but_cannot_change_them(client: Client, admin: User) -> None:
    client.force_login(factories.user("viewer", role=Role.VIEWER))
    at = f"/workspaces/{factories.workspace().pk}/"
    page = text_of(client.get(f"{at}members/"))
    assert "admin" in page
    assert "Make a link" not in page
    assert client.post(f"{at}members/admin/", {"do": "remove"}).status_code == 403
    assert client.post(f"{at}invitations/", {"role": "admin"}).status_code == 403


def test_the_history_has_every_invitation_that_ends(admin: User) -> None:
    workspace, other = factories.workspace(), factories.user("other", role=Role.ADMIN)
    factories.user("invited", role=None)
    invitation_offer(workspace=workspace, username="invited", role=Role.VIEWER, user=admin)
    invitation_offer(workspace=workspace, username="invited", role=Role.EDITOR, user=other)
    invitation_create(workspace=workspace, role=Role.VIEWER, user=other)
    member_change(membership=other.memberships.get(), role=Role.VIEWER, user=admin)
    found = events(workspace).filter(kind="invitation").order_by("created")
    actual = [(event.actor, event.action, event.after) for event in found]
    assert actual[:3] == [
        ("admin", "made", "viewer"),
        ("other", "removed", "viewer"),
        ("other", "made", "editor"),
    ]
    assert sorted(actual[3:]) == [
        ("admin", "removed", "editor"), ("admin", "removed", "viewer"), ("other", "made", "viewer"),
    ]  # fmt: skip
    assert not workspace.invitations.exists()


def test_the_history_survives_the_deletion_of_an_account(client: Client, admin: User) -> None:
    colleague = factories.user("colleague", role=None)
    member_set(workspace=factories.workspace(), username="colleague", role=Role.VIEWER)
    member_change(membership=colleague.memberships.get(), role=Role.EDITOR, user=admin)
    token_client(colleague, Role.VIEWER)
    member_remove(membership=colleague.memberships.get(), user=admin)
    colleague.delete()
    at = f"/api/v1/workspaces/{factories.workspace().pk}/history/"
    rows = token_client(admin, Role.VIEWER).get(f"{at}?ordering=created").json()["results"]
    actual = [(row["actor"], row["kind"], row["action"], row["before"], row["after"]) for row in rows]
    assert actual[:4] == [
        ("", "member", "made", "", "viewer"),
        ("admin", "member", "changed", "viewer", "editor"),
        ("colleague", "token", "made", "", "viewer"),
        ("admin", "member", "removed", "editor", ""),
    ]
    client.force_login(admin)
    page = text_of(client.get(f"/workspaces/{factories.workspace().pk}/history/?kind=token&words=colleague"))
    assert "1 event" in page
    requested = "kind=token&words=colleague"
    assert f"{at}?format=csv&{requested}" in page.replace("&amp;", "&")
    assert [
        row["action"] for row in token_client(admin, Role.VIEWER).get(f"{at}?{requested}").json()["results"]
    ] == ["made"]
    assert Event.objects.filter(subject="colleague").count() == 3
