"""The home page, the log-in and the account page."""

import re

import pytest
from django.test import Client
from django.urls import reverse

from planner.accounts.models import User
from tests import factories
from tests.planner.pages import text_of

pytestmark = pytest.mark.django_db


def test_an_empty_installation_offers_the_first_steps(browser: Client) -> None:
    page = text_of(browser.get("/"))
    assert "No scenario yet" in page
    assert "No run yet" in page
    assert "Import a cluster" in page
    assert "Open the sample" in page


def test_scenarios_and_runs_are_listed(browser: Client) -> None:
    run = factories.run()
    page = text_of(browser.get("/"))
    assert reverse("planner:scenario-detail", args=[run.scenario_id]) in page
    assert reverse("planner:run-detail", args=[run.pk]) in page


@pytest.mark.parametrize("scenarios", [1, 5])
def test_the_query_count_does_not_grow_with_the_scenarios(
    browser: Client, django_assert_num_queries, scenarios: int
) -> None:
    for number in range(scenarios):
        factories.run(factories.scenario(name=f"what if {number}"))
    with django_assert_num_queries(7):
        browser.get("/")


def test_every_page_requires_login(client: Client) -> None:
    for name in ("home", "import", "account"):
        address = reverse(f"planner:{name}")
        assert client.get(address).headers["Location"] == f"{reverse('login')}?next={address}"


def test_logging_in_redirects_to_the_requested_page(client: Client) -> None:
    factories.user("editor", "a-long-test-password")
    assert "Wrong user name or password" in text_of(
        client.post("/login/", {"username": "editor", "password": "wrong"})
    )
    answer = client.post(
        "/login/?next=/import/",
        {"username": "editor", "password": "a-long-test-password", "next": "/import/"},
    )
    assert answer.headers["Location"] == "/import/"


def test_a_token_is_shown_once_and_can_be_revoked(browser: Client) -> None:
    assert "No token yet" in text_of(browser.get("/account/"))
    page = text_of(browser.post("/account/tokens/"))
    assert "Copy the token now" in page
    revoke = page.split('action="/account/tokens/')[1].split('"')[0]
    assert "Copy the token now" not in text_of(browser.get("/account/"))
    browser.post(f"/account/tokens/{revoke}")
    assert "No token yet" in text_of(browser.get("/account/"))


def test_a_user_cannot_revoke_the_token_of_another(browser: Client) -> None:
    factories.user("other")
    key = factories.token(factories.user("other"))[:15]
    browser.post(f"/account/tokens/{key}/")
    browser.logout()
    browser.force_login(factories.user("other"))
    assert key in text_of(browser.get("/account/"))


def test_every_page_forbids_foreign_scripts_and_styles(browser: Client) -> None:
    policy = browser.get("/").headers["Content-Security-Policy"]
    assert "default-src 'self'" in policy
    assert "unsafe" not in policy


def test_password_errors_are_marked_at_their_fields(browser: Client, editor: User) -> None:
    editor.set_password("a-long-test-password")
    editor.save()
    browser.force_login(editor)
    typed = {"old_password": "wrong", "new_password1": "short", "new_password2": "other"}
    answer = browser.post("/account/password/", typed)
    assert answer.status_code == 422
    fields = dict(re.findall(r'<input type="password" name="(\w+)"([^>]*)>', text_of(answer)))
    assert fields.keys() == typed.keys()
    for name, given in fields.items():
        assert ('aria-invalid="true"' in given) == (name != "new_password1"), name
        assert "form-control" in given
    calm = text_of(browser.get("/account/security/"))
    assert "aria-invalid" not in calm
    assert "At least 12 characters" in calm
