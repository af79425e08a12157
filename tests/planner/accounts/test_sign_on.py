"""Single sign-on over HTTP with a test OpenID Connect provider that signs its tokens."""

import subprocess
import sys
from collections.abc import Iterator
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from django.core.management import call_command
from django.test import Client

from planner.accounts.models import Identity, Role, User
from planner.accounts.oidc import _client
from tests import factories
from tests.planner.pages import text_of
from tests.planner.provider import CLIENT_ID, CLIENT_SECRET, Provider, key, provider

ROOT = Path(__file__).parents[3]
SECRETS = ("QUEUECAST_OIDC_CLIENT_ID", "QUEUECAST_OIDC_CLIENT_SECRET")

pytestmark = pytest.mark.django_db


@pytest.fixture
def identity_provider(settings: Any) -> Iterator[Provider]:
    with provider() as running:
        settings.OIDC_ISSUER, settings.OIDC_NAME = running.issuer, "Example"
        settings.OIDC_CLIENT_ID, settings.OIDC_CLIENT_SECRET = CLIENT_ID, CLIENT_SECRET
        yield running
    _client.cache_clear()


def callback_address(client: Client, query: str = "") -> str:
    """Follow the redirect to the provider; return the callback address to which it redirects."""
    begun = client.get(f"/login/sign-on/{query}")
    address = urlsplit(begun.headers["Location"])
    connection = HTTPConnection(str(address.hostname), address.port)
    try:
        connection.request("GET", f"{address.path}?{address.query}")
        return str(connection.getresponse().headers["Location"]).removeprefix("http://testserver")
    finally:
        connection.close()


def sign_on(client: Client, query: str = "") -> Any:
    return client.get(callback_address(client, query))


def logged_in_username(client: Client) -> str:
    account = client.get("/login/").wsgi_request.user
    return account.get_username()


def refused_login_page(client: Client) -> str:
    """Return the log-in page after a refused sign-on."""
    answer = client.get("/login/")
    assert answer.wsgi_request.user.is_anonymous
    assert not Identity.objects.exists()
    return answer.content.decode()


def test_sign_on_is_absent_without_an_issuer(client: Client) -> None:
    assert "sign-on" not in text_of(client.get("/login/"))
    assert client.get("/login/sign-on/").status_code == 404
    assert client.get("/login/sign-on/back/?code=a&state=b").status_code == 404


def test_sign_on_returns_to_the_page_that_was_requested(client: Client, identity_provider: Provider) -> None:
    page = text_of(client.get("/login/?next=/status/"))
    assert (
        '<a class="btn btn-primary" href="/login/sign-on/?next=%2Fstatus%2F">Log in with Example</a>' in page
    )
    assert sign_on(client, "?next=/status/").headers["Location"] == "/status/"
    assert logged_in_username(client) == "ann@example.org"


def test_sign_on_does_not_redirect_to_another_site(client: Client, identity_provider: Provider) -> None:
    assert sign_on(client, "?next=https://elsewhere.example/").headers["Location"] == "/"


def test_a_new_account_has_no_membership_and_no_password(client: Client, identity_provider: Provider) -> None:
    sign_on(client)
    account = User.objects.get(username="ann@example.org")
    assert not account.is_superuser
    assert not account.has_usable_password()
    assert not account.memberships.exists()
    assert client.get("/").status_code == 200
    assert client.get(f"/scenarios/{factories.scenario().pk}/").status_code == 404


def test_a_verified_email_finds_the_existing_account(client: Client, identity_provider: Provider) -> None:
    account = factories.user("ann", role=Role.EDITOR)
    User.objects.filter(pk=account.pk).update(email="Ann@Example.org")
    sign_on(client)
    assert logged_in_username(client) == "ann"
    assert account.identities.get().subject == "s-1"


def test_a_known_subject_logs_in_after_its_email_changed(client: Client, identity_provider: Provider) -> None:
    sign_on(client)
    identity_provider.person = {"sub": "s-1", "email": "ann.new@example.org", "email_verified": False}
    client.logout()
    sign_on(client)
    assert logged_in_username(client) == "ann@example.org"
    assert User.objects.count() == 1


def test_an_email_is_accepted_from_userinfo_only(client: Client, identity_provider: Provider) -> None:
    identity_provider.only_in_userinfo = ("email", "email_verified")
    sign_on(client)
    assert logged_in_username(client) == "ann@example.org"


def test_a_rotated_signing_key_is_fetched(client: Client, identity_provider: Provider) -> None:
    sign_on(client)
    client.logout()
    identity_provider.rotate()
    sign_on(client)
    assert logged_in_username(client) == "ann@example.org"


@pytest.mark.parametrize(
    ("person", "why"),
    [
        ({"email_verified": False}, "has not verified"),
        ({"email": ""}, "has not verified"),
        ({"email": "twice@example.org"}, "Several accounts"),
        ({"email": "a name@example.org"}, "not a valid user name"),
        ({"email": "taken@example.org"}, "Another account is named"),
        ({"email": "off@example.org"}, "is deactivated"),
    ],
)
def test_a_refused_sign_on_states_the_reason(
    client: Client, identity_provider: Provider, person: dict, why: str
) -> None:
    for name, email in (
        ("one", "twice@example.org"),
        ("two", "TWICE@example.org"),
        ("off", "off@example.org"),
    ):
        User.objects.create_user(name, email=email, is_active=name != "off")
    User.objects.create_user("taken@example.org")
    identity_provider.person |= person
    assert sign_on(client).headers["Location"] == "/login/"
    assert why in refused_login_page(client)


@pytest.mark.parametrize(
    "spoiled",
    [
        {"nonce": "another"},
        {"aud": "another"},
        {"iss": "https://another.example"},
        {"exp": 1_000_000},
        {"sub": None},
    ],
    ids=lambda claims: next(iter(claims)),
)
def test_a_token_with_a_wrong_claim_is_refused(
    client: Client, identity_provider: Provider, spoiled: dict
) -> None:
    identity_provider.spoiled = spoiled
    sign_on(client)
    assert "Single sign-on failed" in refused_login_page(client)


def test_a_token_with_a_forged_signature_is_refused(client: Client, identity_provider: Provider) -> None:
    identity_provider.signs_with = key("first", forged=True)
    sign_on(client)
    assert "Single sign-on failed" in refused_login_page(client)


def test_a_callback_that_this_browser_did_not_request_is_refused(
    client: Client, identity_provider: Provider
) -> None:
    address = callback_address(Client())
    assert client.get(address).headers["Location"] == "/login/"
    assert "Single sign-on failed" in refused_login_page(client)


def test_an_authorization_code_works_once(client: Client, identity_provider: Provider) -> None:
    address = callback_address(client)
    code = parse_qs(urlsplit(address).query)["code"]
    client.get(address)
    client.logout()
    assert code
    client.get(address)
    assert logged_in_username(client) == ""


def test_denied_consent_returns_to_the_login_page(client: Client, identity_provider: Provider) -> None:
    identity_provider.refuses = True
    assert sign_on(client).headers["Location"] == "/login/"
    assert "Single sign-on failed" in refused_login_page(client)


def test_an_unreachable_provider_is_reported(client: Client, settings: Any) -> None:
    with provider() as gone:
        settings.OIDC_ISSUER = gone.issuer
    settings.OIDC_CLIENT_ID, settings.OIDC_CLIENT_SECRET = CLIENT_ID, CLIENT_SECRET
    assert client.get("/login/sign-on/").headers["Location"] == "/login/"
    assert "does not respond" in refused_login_page(client)


def test_an_email_set_by_the_member_command_matches_a_sign_on(
    client: Client, identity_provider: Provider
) -> None:
    factories.user("ann", role=None)
    call_command("member", "ann", "viewer", "--email", "ann@example.org")
    sign_on(client)
    assert logged_in_username(client) == "ann"


@pytest.mark.parametrize(
    "given",
    [
        {"QUEUECAST_OIDC_ISSUER": "https://id.example"},
        {"QUEUECAST_OIDC_ISSUER": "http://id.example"} | dict.fromkeys(SECRETS, "x"),
    ],
)
def test_invalid_oidc_settings_prevent_startup(given: dict[str, str], tmp_path: Path) -> None:
    started = subprocess.run(
        [sys.executable, "-c", "import config.settings"],
        env={"QUEUECAST_VAR": str(tmp_path), **given},
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert "ImproperlyConfigured: QUEUECAST_OIDC_ISSUER" in started.stderr
