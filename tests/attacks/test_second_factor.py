"""Second factor, sessions and password: what a thief of one of them cannot do, and what is recorded."""

import logging
import re
import time
from datetime import timedelta

import pyotp
import pytest
from django.core import serializers
from django.core.management import call_command
from django.test import Client
from django.utils import timezone
from rest_framework.test import APIClient

from planner.accounts.models import Event, LoginGuesses, RecoveryCode, Role, SecondFactor, Session, User
from planner.accounts.services.events import audit
from planner.accounts.services.second_factor import (
    WRONG_CODE,
    pending_secret,
    second_factor_begin,
    second_factor_confirm,
)
from planner.clusters.services.retention import old_runs_remove
from planner.runs.models import Run
from tests import factories
from tests.planner.pages import text_of

pytestmark = pytest.mark.django_db

PASSWORD = "a-long-test-password"
AT = "/account/second-factor/"


class Phone:
    """An authenticator app; `code` returns an unused code."""

    def __init__(self, secret: str) -> None:
        self._totp = pyotp.TOTP(secret)
        self._ahead = -1

    def code(self) -> str:
        SecondFactor.objects.update(last_step=0)
        return self.code_now()

    def code_now(self) -> str:
        return self._totp.at(int(time.time()))


@pytest.fixture
def owner() -> User:
    return factories.user("owner")


@pytest.fixture
def phone(owner: User) -> Phone:
    """The phone of the owner, whose second factor is on."""
    second_factor_begin(user=owner)
    phone = Phone(pending_secret(owner) or "")
    second_factor_confirm(user=owner, code=phone.code(), address="192.0.2.1")
    SecondFactor.objects.update(last_step=0)
    return phone


def with_password(username: str = "owner") -> Client:
    """A browser in which the correct password was entered."""
    browser = Client()
    browser.post("/login/", {"username": username, "password": PASSWORD, "next": "/status/"})
    return browser


def is_in(browser: Client) -> bool:
    return browser.get("/account/").status_code == 200


def test_password_alone_does_not_log_in(phone: Phone) -> None:
    browser = with_password()
    assert not is_in(browser)
    assert browser.get("/login/code/").status_code == 200
    answer = browser.post("/login/code/", {"code": phone.code()})
    assert answer.headers["Location"] == "/status/"
    assert is_in(browser)


def test_code_page_requires_a_password_first(phone: Phone) -> None:
    browser = Client()
    assert browser.get("/login/code/").headers["Location"] == "/login/"
    browser.post("/login/code/", {"code": phone.code()})
    assert not is_in(browser)


def test_correct_password_waits_ten_minutes_for_the_code(phone: Phone) -> None:
    browser = with_password()
    session = browser.session
    session["second-factor"] = {**session["second-factor"], "at": time.time() - 601}
    session.save()
    browser.post("/login/code/", {"code": phone.code()})
    assert not is_in(browser)


def test_code_is_valid_once(phone: Phone) -> None:
    code = phone.code()
    first, second = with_password(), with_password()
    first.post("/login/code/", {"code": code})
    answer = second.post("/login/code/", {"code": code})
    assert answer.status_code == 422
    assert (is_in(first), is_in(second)) == (True, False)


def test_code_errors_are_shown_at_the_field(phone: Phone) -> None:
    page = with_password().post("/login/code/", {"code": "000000"})
    assert page.context["form"].errors == {"code": [WRONG_CODE.in_full]}
    page = with_password().post("/login/code/", {})
    assert (page.status_code, page.context["form"].errors.keys()) == (422, {"code"})
    browser = with_password()
    browser.post("/login/code/", {"code": phone.code()})
    page = browser.post(AT, {"do": "remove", "code": "000000"})
    assert page.context["factor"].errors == {"code": [WRONG_CODE.in_full]}


def test_account_deactivated_before_the_code_cannot_log_in(phone: Phone, owner: User) -> None:
    browser = with_password()
    User.objects.filter(pk=owner.pk).update(is_active=False)
    assert browser.post("/login/code/", {"code": phone.code()}).status_code == 422
    assert not is_in(browser)


def test_code_guesses_at_login_are_throttled(phone: Phone) -> None:
    browser = with_password()
    statuses = [browser.post("/login/code/", {"code": f"{n:06}"}).status_code for n in range(8)]
    assert statuses[:5] == [422] * 5
    assert statuses[-1] == 429
    assert browser.post("/login/code/", {"code": phone.code()}).status_code == 429
    LoginGuesses.objects.all().delete()
    browser.post("/login/code/", {"code": phone.code()})
    assert is_in(browser)


@pytest.mark.parametrize("do", ["remove", "renew"])
def test_code_guesses_in_a_logged_in_browser_are_throttled(phone: Phone, owner: User, do: str) -> None:
    browser = Client()
    browser.force_login(owner)
    statuses = [browser.post(AT, {"do": do, "code": f"{n:06}"}).status_code for n in range(8)]
    assert statuses[:5] == [422] * 5
    assert statuses[-1] == 429


def test_guesses_of_the_first_code_are_throttled(owner: User) -> None:
    second_factor_begin(user=owner)
    browser = Client()
    browser.force_login(owner)
    statuses = [browser.post(AT, {"do": "confirm", "code": f"{n:06}"}).status_code for n in range(8)]
    assert statuses[-1] == 429


def test_recovery_code_logs_in_once_and_is_stored_as_a_hash(owner: User) -> None:
    second_factor_begin(user=owner)
    phone = Phone(pending_secret(owner) or "")
    codes = second_factor_confirm(user=owner, code=phone.code(), address="")
    assert len(set(codes)) == 10
    stored = serializers.serialize("json", [*RecoveryCode.objects.all(), SecondFactor.objects.get()])
    for code in (*codes, *(code.replace("-", "") for code in codes), phone._totp.secret):
        assert code not in stored
    first, second = with_password(), with_password()
    first.post("/login/code/", {"code": codes[0].lower()})
    second.post("/login/code/", {"code": codes[0]})
    assert (is_in(first), is_in(second)) == (True, False)
    assert "9 recovery codes left" in text_of(first.get("/account/security/"))


def test_second_factor_is_set_up_and_turned_off_on_the_page(owner: User) -> None:
    browser = with_password()
    browser.post(AT, {"do": "begin"})
    page = text_of(browser.get("/account/security/"))
    [secret] = re.findall(r"Key: <code>(\w+)</code>", page)
    assert "data:image/svg+xml" in page
    assert browser.post(AT, {"do": "confirm", "code": "000000"}).status_code == 422
    assert is_in(with_password()), "it is required from its first correct code on"
    phone = Phone(secret)
    page = text_of(browser.post(AT, {"do": "confirm", "code": phone.code()}))
    assert len(re.findall(r"<li><code>(?:\w{4}-){3}\w{4}</code>", page)) == 10
    assert secret not in text_of(browser.get("/account/security/"))
    assert not is_in(with_password())
    assert browser.post(AT, {"do": "remove", "code": "000000"}).status_code == 422
    assert browser.post(AT, {"do": "begin"}).status_code == 422, "a thief of the session cannot replace it"
    browser.post(AT, {"do": "remove", "code": phone.code()})
    assert is_in(with_password())


def test_operator_can_remove_a_lost_second_factor(phone: Phone) -> None:
    call_command("second_factor", "owner", "--remove")
    assert is_in(with_password())
    assert not RecoveryCode.objects.exists()


# Sessions and password


def test_sessions_are_listed_and_ended(owner: User) -> None:
    here, there, elsewhere = (with_password() for _ in range(3))
    page = text_of(here.get("/account/security/"))
    assert "3 sessions" in page
    for browser in (here, there, elsewhere):
        assert browser.session.session_key not in page
    name = Session.objects.get(session_key=there.session.session_key).name
    here.post("/account/sessions/", {"session": name})
    assert [is_in(browser) for browser in (here, there, elsewhere)] == [True, False, True]
    here.post("/account/sessions/")
    assert [is_in(browser) for browser in (here, elsewhere)] == [True, False]


def test_api_lists_and_ends_sessions(owner: User) -> None:
    browser = with_password()
    reads = APIClient(HTTP_AUTHORIZATION=f"Token {factories.token(owner, Role.VIEWER)}")
    answer = reads.get("/api/v1/sessions/")
    [row] = answer.json()["results"]
    assert browser.session.session_key not in answer.content.decode()
    assert reads.delete(f"/api/v1/sessions/{row['id']}/").status_code == 403
    assert is_in(browser)
    ends = APIClient(HTTP_AUTHORIZATION=f"Token {factories.token(owner)}")
    assert ends.delete(f"/api/v1/sessions/{row['id']}/").status_code == 204
    assert not is_in(browser)
    assert [row["action"] for row in ends.get("/api/v1/logins/").json()["results"]] == [
        "ended a session", "logged in",
    ]  # fmt: skip


def test_user_cannot_end_another_users_session(owner: User) -> None:
    mine = with_password()
    factories.user("other")
    other = with_password("other")
    name = Session.objects.get(session_key=mine.session.session_key).name
    assert other.post("/account/sessions/", {"session": name}).status_code == 404
    other.post("/account/sessions/")
    assert is_in(mine)


def test_password_change_ends_every_other_session(owner: User) -> None:
    here, there = with_password(), with_password()
    new = {
        "old_password": PASSWORD,
        "new_password1": "another-long-phrase-8",
        "new_password2": "another-long-phrase-8",
    }
    assert here.post("/account/password/", {**new, "old_password": "wrong"}).status_code == 422
    weak = {"new_password1": "password", "new_password2": "password"}
    assert "too short" in text_of(here.post("/account/password/", {**new, **weak}))
    assert is_in(there)
    here.post("/account/password/", new)
    assert [is_in(here), is_in(there), is_in(with_password())] == [True, False, False]
    owner.refresh_from_db()
    assert owner.check_password("another-long-phrase-8")


def test_password_guesses_in_a_stolen_session_are_throttled(owner: User) -> None:
    browser = with_password()
    wrong = {"old_password": "x", "new_password1": "y", "new_password2": "y"}
    statuses = [browser.post("/account/password/", wrong).status_code for _ in range(8)]
    assert statuses[-1] == 429


def test_single_sign_on_account_has_no_password_to_change(owner: User) -> None:
    owner.set_unusable_password()
    owner.save()
    browser = Client()
    browser.force_login(owner)
    assert "logs in by single sign-on" in text_of(browser.get("/account/security/"))
    assert browser.post("/account/password/", {}).status_code == 404


# What is recorded


def test_logins_and_failures_are_recorded_and_logged(owner: User, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, logger=audit.name):
        Client().post("/login/", {"username": "owner", "password": "wrong"}, REMOTE_ADDR="192.0.2.9")
        Client().post("/login/", {"username": "nobody", "password": "wrong"}, REMOTE_ADDR="192.0.2.9")
        browser = with_password()
    noted = (
        Event.objects.filter(kind="login")
        .order_by("created")
        .values_list("user", "actor", "action", "address")
    )
    assert list(noted) == [
        (owner.pk, "somebody", "failed", "192.0.2.9"),
        (owner.pk, "owner", "logged in", "127.0.0.1"),
    ]
    assert sum(record.name == audit.name for record in caplog.records) == 3
    page = text_of(browser.get("/account/security/"))
    assert "192.0.2.9" in page
    assert not Event.objects.filter(kind="login").exclude(workspace=None).exists(), (
        "they are visible in no workspace"
    )


def test_exports_are_recorded_once_an_hour_and_always_logged(
    finished_run: Run, caplog: pytest.LogCaptureFixture
) -> None:
    reader = APIClient(
        HTTP_AUTHORIZATION=f"Token {factories.token(factories.user('viewer', role=Role.VIEWER))}"
    )
    at = f"/api/v1/runs/{finished_run.pk}"
    caplog.clear()
    with caplog.at_level(logging.INFO, logger=audit.name):
        for name in ("input", "result", "bundle", "input"):
            assert reader.get(f"{at}/{name}/").status_code == 200
    exported = Event.objects.filter(kind="export", workspace=finished_run.workspace, actor="viewer")
    assert {event.subject.partition(": ")[2] for event in exported} == {"input", "result", "bundle"}
    assert exported.count() == 3
    assert sum(record.name == audit.name for record in caplog.records) == 4


def test_expired_session_is_neither_valid_nor_listed(owner: User) -> None:
    here, there = with_password(), with_password()
    Session.objects.filter(session_key=there.session.session_key).update(
        expire_date=timezone.now() - timedelta(seconds=1)
    )
    assert not is_in(there)
    assert "1 session" in text_of(here.get("/account/security/"))
    old_runs_remove(keep=timedelta(days=1))
    assert list(Session.objects.values_list("session_key", flat=True)) == [here.session.session_key]
