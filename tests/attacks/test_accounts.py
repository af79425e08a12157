"""Tokens, invitations and memberships must not exceed or outlive the rights of their creator."""

from datetime import timedelta

import pytest
from django.core.management import call_command
from django.db import IntegrityError, transaction
from django.test import Client
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.django import TestCase
from knox.models import AuthToken
from rest_framework.test import APIClient

from planner.accounts.models import Event, Invitation, Membership, Role, TokenDetails, User, Workspace
from planner.accounts.services.invitations import (
    invitation_accept,
    invitation_create,
    invitation_offer,
    offer_accept,
)
from planner.accounts.services.members import (
    full_access_require,
    member_change,
    member_remove,
    role_require,
)
from planner.accounts.services.tokens import token_make
from planner.errors import Invalid, RoleTooLow
from tests import factories
from tests.planner.pages import text_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def admin() -> User:
    return factories.user("admin", role=Role.ADMIN)


def script(text: str) -> APIClient:
    client = APIClient(HTTP_AUTHORIZATION=f"Token {text}")
    client.default_format = "json"
    return client


# Tokens


@pytest.mark.parametrize("scope", [Role.VIEWER, Role.EDITOR])
def test_token_below_admin_neither_creates_nor_revokes_tokens(admin: User, scope: Role) -> None:
    other = factories.token(admin)
    client = script(factories.token(admin, scope))
    assert client.post("/api/v1/tokens/", {"scope": "viewer"}).status_code == 403
    assert client.delete(f"/api/v1/tokens/{other[:15]}/").status_code == 403
    assert AuthToken.objects.count() == 2


def test_token_created_by_a_token_does_not_outlive_it(admin: User) -> None:
    parent, text = token_make(user=admin, scope=Role.ADMIN, days=7)
    client = script(text)
    refused = client.post("/api/v1/tokens/", {"scope": "viewer", "days": 8})
    assert refused.status_code == 422
    assert refused.json()["problems"][0]["rule"] == "token.outlives"
    made = client.post("/api/v1/tokens/", {"scope": "viewer"}).json()
    child = TokenDetails.objects.get(parent=parent)
    assert child.token.expiry <= parent.token.expiry
    assert script(made["text"]).get("/api/v1/scenarios/").status_code == 200


def test_revoking_a_token_revokes_all_its_descendants(admin: User) -> None:
    stolen = factories.token(admin)
    child = script(stolen).post("/api/v1/tokens/", {"scope": "admin", "days": 3}).json()["text"]
    grandchild = script(child).post("/api/v1/tokens/", {"scope": "admin", "days": 2}).json()["text"]
    browser = Client()
    browser.force_login(admin)
    browser.post(f"/account/tokens/{stolen[:15]}/")
    for text in (stolen, child, grandchild):
        assert script(text).get("/api/v1/scenarios/").status_code == 401
    assert not AuthToken.objects.exists()


def test_token_command_creates_an_editor_token_that_expires(
    admin: User, capsys: pytest.CaptureFixture
) -> None:
    call_command("token", "admin")
    call_command("token", "admin", "--scope", "viewer", "--days", "2", "--name", "report")
    edits, reads = (
        TokenDetails.objects.get(token__token_key=t[:15]) for t in capsys.readouterr().out.split()
    )
    assert (edits.scope, reads.scope, reads.name) == ("editor", "viewer", "report")
    lives = [details.token.expiry - details.token.created for details in (edits, reads)]
    assert lives == [pytest.approx(timedelta(days=days), abs=timedelta(minutes=1)) for days in (90, 2)]


def test_token_names_are_visible_only_to_their_owner(admin: User) -> None:
    token_make(user=factories.user("editor"), scope=Role.VIEWER, name="exfiltration of the plan")
    history = script(factories.token(admin)).get(f"/api/v1/workspaces/{factories.workspace().pk}/history/")
    assert "exfiltration" not in history.content.decode()


def test_token_without_a_scope_is_not_stored(admin: User) -> None:
    token, _ = AuthToken.objects.create(user=admin)
    with pytest.raises(IntegrityError), transaction.atomic():
        TokenDetails.objects.create(token=token, name="without a scope")


def test_user_without_a_stated_limit_has_neither_role_nor_full_access(admin: User) -> None:
    unlimited = User.objects.get(pk=admin.pk)
    with pytest.raises(AttributeError):
        role_require(user=unlimited, workspace=factories.workspace())
    with pytest.raises(AttributeError):
        full_access_require(user=unlimited)


class TokensEndWithTheirParent(TestCase):
    """No token created from another token has more rights or a longer life than any of its ancestors."""

    @given(
        steps=st.lists(
            st.tuples(st.integers(0, 9), st.sampled_from(list(Role)), st.none() | st.integers(1, 400)),
            max_size=8,
        )
    )
    def test_descendant_tokens_never_exceed_their_ancestors(
        self, steps: list[tuple[int, Role, int | None]]
    ) -> None:
        owner = factories.user("owner", role=Role.ADMIN)
        made = [token_make(user=owner, scope=Role.ADMIN, days=100)[0]]
        for above, scope, days in steps:
            parent = made[above % len(made)]
            try:
                caller = User.objects.get(pk=owner.pk).acting(Role(parent.scope))
                details, _ = token_make(user=caller, scope=scope, days=days, parent=parent.token)
            except (RoleTooLow, Invalid):
                continue
            made.append(details)
        for details in made:
            above = details.parent
            while above is not None:
                assert Role(above.scope).covers(Role(details.scope))
                assert details.token.expiry <= above.token.expiry
                above = above.parent


# Invitations


@pytest.fixture
def removed(admin: User) -> User:
    """An admin who made an invitation before losing the role."""
    return factories.user("removed", role=Role.ADMIN)


@pytest.mark.parametrize("how", ["removed", "demoted", "left", "switched off", "deleted"])
def test_invitation_of_a_former_admin_is_invalid(admin: User, removed: User, how: str) -> None:
    _, secret = invitation_create(workspace=factories.workspace(), role=Role.ADMIN, user=removed)
    membership = removed.memberships.get()
    if how == "removed":
        member_remove(membership=membership, user=admin)
    elif how == "demoted":
        member_change(membership=membership, role=Role.EDITOR, user=admin)
    elif how == "left":
        member_remove(membership=membership, user=removed)
    elif how == "switched off":
        User.objects.filter(pk=removed.pk).update(is_active=False)
    else:
        User.objects.filter(pk=removed.pk).delete()
    assert Client().get(f"/invitations/{secret}/").status_code == 410
    outsider = factories.user("outsider", role=None)
    with pytest.raises(Invalid):
        invitation_accept(secret=secret, user=outsider)
    assert not outsider.memberships.exists()
    if how in ("removed", "demoted", "left"):
        assert not Invitation.objects.exists()


def test_invitation_is_invalid_if_its_creator_lost_the_role_by_other_means(removed: User) -> None:
    _, secret = invitation_create(workspace=factories.workspace(), role=Role.ADMIN, user=removed)
    Membership.objects.filter(user=removed).update(role=Role.VIEWER)
    with pytest.raises(Invalid):
        invitation_accept(secret=secret, user=factories.user("outsider", role=None))


# Memberships


def test_user_becomes_a_member_only_after_accepting(admin: User) -> None:
    victim = factories.user("victim", role=None)
    at = f"/api/v1/workspaces/{factories.workspace().pk}/members/victim/"
    assert script(factories.token(admin)).put(at, {"role": "editor"}).status_code == 202
    assert not victim.memberships.exists()
    browser = Client()
    browser.force_login(victim)
    assert "default" in text_of(browser.get("/account/"))
    browser.post(f"/account/invitations/{Invitation.objects.get().pk}/", {"do": "accept"})
    assert victim.memberships.get().role == Role.EDITOR


def test_declined_invitation_is_deleted(admin: User) -> None:
    invited = factories.user("invited", role=None)
    invitation_offer(workspace=factories.workspace(), username="invited", role=Role.EDITOR, user=admin)
    client = script(factories.token(invited))
    [offer] = client.get("/api/v1/invitations/").json()["results"]
    assert client.delete(f"/api/v1/invitations/{offer['id']}/").status_code == 204
    assert client.get("/api/v1/invitations/").json()["count"] == 0
    assert not invited.memberships.exists()


def test_user_cannot_accept_another_users_invitation(admin: User) -> None:
    factories.user("invited", role=None)
    other = factories.user("other", role=None)
    offer = invitation_offer(
        workspace=factories.workspace(), username="invited", role=Role.EDITOR, user=admin
    )
    client = script(factories.token(other))
    assert client.post(f"/api/v1/invitations/{offer.pk}/accept/").status_code == 404
    with pytest.raises(Invalid):
        offer_accept(invitation=offer, user=other)


def test_invitations_do_not_reveal_which_accounts_exist(admin: User) -> None:
    others = Workspace.objects.create(name="others")
    Membership.objects.create(workspace=others, user=factories.user("known", role=None), role=Role.ADMIN)
    at = f"/api/v1/workspaces/{factories.workspace().pk}"
    client = script(factories.token(admin))
    actual = {}
    for name in ("known", "nobody"):
        answer = client.put(f"{at}/members/{name}/", {"role": "viewer"})
        row = answer.json() | {"id": "", "username": "", "created": "", "expires": ""}
        actual[name] = (answer.status_code, row, sorted(answer.headers))
    assert actual["known"] == actual["nobody"]
    listed = {row["username"] for row in client.get(f"{at}/invitations/").json()["results"]}
    assert listed == {"known", "nobody"}
    assert set(Event.objects.filter(kind="invitation").values_list("subject", flat=True)) == listed


def test_account_created_later_with_an_invited_name_is_not_invited(admin: User) -> None:
    invitation_offer(workspace=factories.workspace(), username="later", role=Role.ADMIN, user=admin)
    impostor = factories.user("later", role=None)
    assert script(factories.token(impostor)).get("/api/v1/invitations/").json()["count"] == 0


def test_read_only_token_cannot_answer_invitations_or_leave_a_workspace(admin: User) -> None:
    invited = factories.user("invited", role=None)
    offer = invitation_offer(workspace=factories.workspace(), username="invited", role=Role.ADMIN, user=admin)
    reads = script(factories.token(invited, Role.VIEWER))
    assert reads.post(f"/api/v1/invitations/{offer.pk}/accept/").status_code == 403
    assert reads.delete(f"/api/v1/invitations/{offer.pk}/").status_code == 403
    member = factories.user("member", role=Role.VIEWER)
    leaves = f"/api/v1/workspaces/{factories.workspace().pk}/members/member/"
    assert script(factories.token(member, Role.VIEWER)).delete(leaves).status_code == 403
    assert script(factories.token(member)).delete(leaves).status_code == 204
