"""Tokens, invitations and memberships that would reach further, or last longer, than who gave them."""

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
from planner.accounts.selectors.workspaces import role_of
from planner.accounts.services.invitations import (
    invitation_accept,
    invitation_create,
    invitation_offer,
    offer_accept,
)
from planner.accounts.services.members import full_access_require, member_change, member_remove
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
def test_a_token_below_admin_neither_makes_nor_revokes_tokens(admin: User, scope: Role) -> None:
    other = factories.token(admin)
    client = script(factories.token(admin, scope))
    assert client.post("/api/v1/tokens/", {"scope": "viewer"}).status_code == 403
    assert client.delete(f"/api/v1/tokens/{other[:15]}/").status_code == 403
    assert AuthToken.objects.count() == 2


def test_a_token_made_by_a_token_does_not_outlive_it(admin: User) -> None:
    parent, text = token_make(user=admin, scope=Role.ADMIN, days=7)
    client = script(text)
    refused = client.post("/api/v1/tokens/", {"scope": "viewer", "days": 8})
    assert refused.status_code == 422
    assert refused.json()["problems"][0]["rule"] == "token.outlives"
    made = client.post("/api/v1/tokens/", {"scope": "viewer"}).json()
    child = TokenDetails.objects.get(parent=parent)
    assert child.token.expiry <= parent.token.expiry
    assert script(made["text"]).get("/api/v1/scenarios/").status_code == 200


def test_a_revoked_token_takes_the_tokens_made_with_it_along(admin: User) -> None:
    stolen = factories.token(admin)
    child = script(stolen).post("/api/v1/tokens/", {"scope": "admin", "days": 3}).json()["text"]
    grandchild = script(child).post("/api/v1/tokens/", {"scope": "admin", "days": 2}).json()["text"]
    browser = Client()
    browser.force_login(admin)
    browser.post(f"/account/tokens/{stolen[:15]}/")
    for text in (stolen, child, grandchild):
        assert script(text).get("/api/v1/scenarios/").status_code == 401
    assert not AuthToken.objects.exists()


def test_an_account_that_no_interface_has_limited_may_do_nothing(admin: User) -> None:
    unlimited = User.objects.get(pk=admin.pk)
    with pytest.raises(AttributeError):
        role_of(unlimited, factories.workspace())


def test_the_command_makes_a_token_that_edits_and_expires(admin: User, capsys: pytest.CaptureFixture) -> None:
    call_command("token", "admin")
    call_command("token", "admin", "--scope", "viewer", "--days", "2", "--name", "report")
    edits, reads = (
        TokenDetails.objects.get(token__token_key=t[:15]) for t in capsys.readouterr().out.split()
    )
    assert (edits.scope, reads.scope, reads.name) == ("editor", "viewer", "report")
    lives = [details.token.expiry - details.token.created for details in (edits, reads)]
    assert lives == [pytest.approx(timedelta(days=days), abs=timedelta(minutes=1)) for days in (90, 2)]


def test_the_names_of_tokens_are_seen_by_their_owner_only(admin: User) -> None:
    token_make(user=factories.user("editor"), scope=Role.VIEWER, name="exfiltration of the plan")
    history = script(factories.token(admin)).get(f"/api/v1/workspaces/{factories.workspace().pk}/history/")
    assert "exfiltration" not in history.content.decode()


def test_a_token_whose_scope_nobody_stated_is_not_stored(admin: User) -> None:
    token, _ = AuthToken.objects.create(user=admin)
    with pytest.raises(IntegrityError), transaction.atomic():
        TokenDetails.objects.create(token=token, name="without a scope")


def test_an_account_without_a_stated_limit_may_do_nothing(admin: User) -> None:
    unlimited = User.objects.get(pk=admin.pk)
    with pytest.raises(AttributeError):
        role_of(unlimited, factories.workspace())
    with pytest.raises(AttributeError):
        full_access_require(user=unlimited)


class TokensEndWithTheirParent(TestCase):
    """However tokens are made from tokens, none does more or lives longer than any above it."""

    @given(
        steps=st.lists(
            st.tuples(st.integers(0, 9), st.sampled_from(list(Role)), st.none() | st.integers(1, 400)),
            max_size=8,
        )
    )
    def test_no_descendant_reaches_further(self, steps: list[tuple[int, Role, int | None]]) -> None:
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
def test_the_invitation_of_a_former_admin_opens_nothing(admin: User, removed: User, how: str) -> None:
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


def test_an_invitation_whose_maker_lost_the_role_in_any_other_way_opens_nothing(removed: User) -> None:
    _, secret = invitation_create(workspace=factories.workspace(), role=Role.ADMIN, user=removed)
    Membership.objects.filter(user=removed).update(role=Role.VIEWER)
    with pytest.raises(Invalid):
        invitation_accept(secret=secret, user=factories.user("outsider", role=None))


# Memberships


def test_an_account_becomes_a_member_only_when_it_accepts(admin: User) -> None:
    victim = factories.user("victim", role=None)
    at = f"/api/v1/workspaces/{factories.workspace().pk}/members/victim/"
    assert script(factories.token(admin)).put(at, {"role": "editor"}).status_code == 202
    assert not victim.memberships.exists()
    browser = Client()
    browser.force_login(victim)
    assert "default" in text_of(browser.get("/account/"))
    browser.post(f"/account/invitations/{Invitation.objects.get().pk}/", {"do": "accept"})
    assert victim.memberships.get().role == Role.EDITOR


def test_an_invitation_that_is_declined_is_gone(admin: User) -> None:
    invited = factories.user("invited", role=None)
    invitation_offer(workspace=factories.workspace(), username="invited", role=Role.EDITOR, user=admin)
    client = script(factories.token(invited))
    [offer] = client.get("/api/v1/invitations/").json()["results"]
    assert client.delete(f"/api/v1/invitations/{offer['id']}/").status_code == 204
    assert client.get("/api/v1/invitations/").json()["count"] == 0
    assert not invited.memberships.exists()


def test_nobody_accepts_the_invitation_of_another(admin: User) -> None:
    factories.user("invited", role=None)
    other = factories.user("other", role=None)
    offer = invitation_offer(
        workspace=factories.workspace(), username="invited", role=Role.EDITOR, user=admin
    )
    client = script(factories.token(other))
    assert client.post(f"/api/v1/invitations/{offer.pk}/accept/").status_code == 404
    with pytest.raises(Invalid):
        offer_accept(invitation=offer, user=other)


def test_nobody_learns_which_accounts_exist(admin: User) -> None:
    others = Workspace.objects.create(name="others")
    Membership.objects.create(workspace=others, user=factories.user("known", role=None), role=Role.ADMIN)
    at = f"/api/v1/workspaces/{factories.workspace().pk}"
    client = script(factories.token(admin))
    told = {}
    for name in ("known", "nobody"):
        answer = client.put(f"{at}/members/{name}/", {"role": "viewer"})
        row = answer.json() | {"id": "", "username": "", "created": "", "expires": ""}
        told[name] = (answer.status_code, row, sorted(answer.headers))
    assert told["known"] == told["nobody"]
    listed = {row["username"] for row in client.get(f"{at}/invitations/").json()["results"]}
    assert listed == {"known", "nobody"}
    assert set(Event.objects.filter(kind="invitation").values_list("subject", flat=True)) == listed


def test_whoever_takes_an_invited_name_later_is_not_invited(admin: User) -> None:
    invitation_offer(workspace=factories.workspace(), username="later", role=Role.ADMIN, user=admin)
    impostor = factories.user("later", role=None)
    assert script(factories.token(impostor)).get("/api/v1/invitations/").json()["count"] == 0


def test_a_read_only_token_answers_no_invitation_and_leaves_no_workspace(admin: User) -> None:
    invited = factories.user("invited", role=None)
    offer = invitation_offer(workspace=factories.workspace(), username="invited", role=Role.ADMIN, user=admin)
    reads = script(factories.token(invited, Role.VIEWER))
    assert reads.post(f"/api/v1/invitations/{offer.pk}/accept/").status_code == 403
    assert reads.delete(f"/api/v1/invitations/{offer.pk}/").status_code == 403
    member = factories.user("member", role=Role.VIEWER)
    leaves = f"/api/v1/workspaces/{factories.workspace().pk}/members/member/"
    assert script(factories.token(member, Role.VIEWER)).delete(leaves).status_code == 403
    assert script(factories.token(member)).delete(leaves).status_code == 204
