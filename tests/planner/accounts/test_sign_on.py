"""Logging in with an account of another house, over HTTP with a provider that signs in earnest."""

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
from planner.accounts.views.sign_on import _provider
from tests import factories
from tests.planner.pages import text_of
from tests.planner.provider import CLIENT_ID, CLIENT_SECRET, Provider, key, provider

ROOT = Path(__file__).parents[3]
SECRETS = ("QUEUECAST_OIDC_CLIENT_ID", "QUEUECAST_OIDC_CLIENT_SECRET")

pytestmark = pytest.mark.django_db


@pytest.fixture
def house(settings: Any) -> Iterator[Provider]:
    with provider() as running:
        settings.OIDC_ISSUER, settings.OIDC_NAME = running.issuer, "Example"
        settings.OIDC_CLIENT_ID, settings.OIDC_CLIENT_SECRET = CLIENT_ID, CLIENT_SECRET
        yield running
    _provider.cache_clear()


def sent_back(client: Client, query: str = "") -> str:
    """Go to the provider as a browser does; return the address to which it sends back."""
    begun = client.get(f"/login/sign-on/{query}")
    address = urlsplit(begun.headers["Location"])
    connection = HTTPConnection(str(address.hostname), address.port)
    try:
        connection.request("GET", f"{address.path}?{address.query}")
        return str(connection.getresponse().headers["Location"]).removeprefix("http://testserver")
    finally:
        connection.close()


def signed_on(client: Client, query: str = "") -> Any:
    return client.get(sent_back(client, query))


def who(client: Client) -> str:
    account = client.get("/login/").wsgi_request.user
    return account.get_username()


def refusal(client: Client) -> str:
    """Return the log-in page, on which nobody is logged in."""
    answer = client.get("/login/")
    assert answer.wsgi_request.user.is_anonymous
    assert not Identity.objects.exists()
    return answer.content.decode()


def test_without_an_issuer_there_is_nothing_of_it(client: Client) -> None:
    assert "sign-on" not in text_of(client.get("/login/"))
    assert client.get("/login/sign-on/").status_code == 404
    assert client.get("/login/sign-on/back/?code=a&state=b").status_code == 404


def test_the_button_leads_to_the_provider_and_back_to_where_one_wanted_to_go(
    client: Client, house: Provider
) -> None:
    page = text_of(client.get("/login/?next=/status/"))
    assert (
        '<a class="btn btn-primary" href="/login/sign-on/?next=%2Fstatus%2F">Log in with Example</a>' in page
    )
    assert signed_on(client, "?next=/status/").headers["Location"] == "/status/"
    assert who(client) == "ann@example.org"


def test_nobody_is_sent_to_another_site(client: Client, house: Provider) -> None:
    assert signed_on(client, "?next=https://elsewhere.example/").headers["Location"] == "/"


def test_a_new_person_is_a_member_of_nothing_and_has_no_password(client: Client, house: Provider) -> None:
    signed_on(client)
    account = User.objects.get(username="ann@example.org")
    assert not account.is_superuser
    assert not account.has_usable_password()
    assert not account.memberships.exists()
    assert client.get("/").status_code == 200
    assert client.get(f"/scenarios/{factories.scenario().pk}/").status_code == 404


def test_a_verified_e_mail_leads_to_the_account_that_has_it(client: Client, house: Provider) -> None:
    account = factories.user("ann", role=Role.EDITOR)
    User.objects.filter(pk=account.pk).update(email="Ann@Example.org")
    signed_on(client)
    assert who(client) == "ann"
    assert account.identities.get().subject == "s-1"


def test_who_came_before_is_known_whatever_the_e_mail_is_now(client: Client, house: Provider) -> None:
    signed_on(client)
    house.person = {"sub": "s-1", "email": "ann.new@example.org", "email_verified": False}
    client.logout()
    signed_on(client)
    assert who(client) == "ann@example.org"
    assert User.objects.count() == 1


def test_an_e_mail_may_stand_in_userinfo_only(client: Client, house: Provider) -> None:
    house.only_in_userinfo = ("email", "email_verified")
    signed_on(client)
    assert who(client) == "ann@example.org"


def test_a_new_key_of_the_provider_is_read_when_it_is_met(client: Client, house: Provider) -> None:
    signed_on(client)
    client.logout()
    house.rotate()
    signed_on(client)
    assert who(client) == "ann@example.org"


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
def test_who_is_not_let_in_reads_why(client: Client, house: Provider, person: dict, why: str) -> None:
    for name, email in (
        ("one", "twice@example.org"),
        ("two", "TWICE@example.org"),
        ("off", "off@example.org"),
    ):
        User.objects.create_user(name, email=email, is_active=name != "off")
    User.objects.create_user("taken@example.org")
    house.person |= person
    assert signed_on(client).headers["Location"] == "/login/"
    assert why in refusal(client)


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
def test_a_token_for_somebody_or_something_else_lets_nobody_in(
    client: Client, house: Provider, spoiled: dict
) -> None:
    house.spoiled = spoiled
    signed_on(client)
    assert "Single sign-on failed" in refusal(client)


def test_a_token_that_another_signed_lets_nobody_in(client: Client, house: Provider) -> None:
    house.signs_with = key("first", forged=True)
    signed_on(client)
    assert "Single sign-on failed" in refusal(client)


def test_an_answer_to_a_question_that_this_browser_did_not_ask_lets_nobody_in(
    client: Client, house: Provider
) -> None:
    address = sent_back(Client())
    assert client.get(address).headers["Location"] == "/login/"
    assert "Single sign-on failed" in refusal(client)


def test_a_code_counts_once(client: Client, house: Provider) -> None:
    address = sent_back(client)
    code = parse_qs(urlsplit(address).query)["code"]
    client.get(address)
    client.logout()
    assert code
    client.get(address)
    assert who(client) == ""


def test_who_says_no_at_the_provider_is_back_at_the_log_in_page(client: Client, house: Provider) -> None:
    house.refuses = True
    assert signed_on(client).headers["Location"] == "/login/"
    assert "Single sign-on failed" in refusal(client)


def test_a_provider_that_is_away_is_said_so(client: Client, settings: Any) -> None:
    with provider() as gone:
        settings.OIDC_ISSUER = gone.issuer
    settings.OIDC_CLIENT_ID, settings.OIDC_CLIENT_SECRET = CLIENT_ID, CLIENT_SECRET
    assert client.get("/login/sign-on/").headers["Location"] == "/login/"
    assert "does not respond" in refusal(client)


def test_an_operator_gives_an_account_the_address_by_which_it_is_found(
    client: Client, house: Provider
) -> None:
    factories.user("ann", role=None)
    call_command("member", "ann", "viewer", "--email", "ann@example.org")
    signed_on(client)
    assert who(client) == "ann"


@pytest.mark.parametrize(
    "given",
    [
        {"QUEUECAST_OIDC_ISSUER": "https://id.example"},
        {"QUEUECAST_OIDC_ISSUER": "http://id.example"} | dict.fromkeys(SECRETS, "x"),
    ],
)
def test_settings_that_cannot_be_meant_stop_the_start(given: dict[str, str], tmp_path: Path) -> None:
    started = subprocess.run(
        [sys.executable, "-c", "import config.settings"],
        env={"QUEUECAST_VAR": str(tmp_path), **given},
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert "ImproperlyConfigured: QUEUECAST_OIDC_ISSUER" in started.stderr
