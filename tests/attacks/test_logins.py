"""Guessing passwords gains nothing and does not lock out the owner of the account."""

import ipaddress
import queue
import threading
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.contrib.auth.hashers import MD5PasswordHasher
from django.db import connection
from django.test import Client
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from planner.accounts.models import LoginGuesses
from planner.accounts.services import logins
from planner.accounts.services.logins import (
    BY_ACCOUNT,
    BY_ADDRESS,
    BY_ADDRESS_AND_ACCOUNT,
    Guesser,
    TooSoon,
    guess_count,
)
from planner.web.middleware.addresses import client_address
from tests import factories

PATIENCE = 60.0
RIGHT = {"username": "owner", "password": "a-long-test-password"}
WRONG = {"username": "owner", "password": "wrong"}


@pytest.fixture
def owner(db: None) -> Client:
    """A browser in which the account's owner has logged in before."""
    factories.user("owner")
    browser = Client()
    assert browser.post("/login/", RIGHT).status_code == 302
    browser.post("/logout/")
    return browser


def guesses(many: int, address: Callable[[int], str], name: Callable[[int], str]) -> list[int]:
    return [
        Client().post(
            "/login/", {"username": name(number), "password": "wrong"}, REMOTE_ADDR=address(number)
        ).status_code
        for number in range(many)
    ]  # fmt: skip


def test_guesses_from_the_same_address_do_not_lock_out_the_owner(owner: Client) -> None:
    actual = guesses(12, lambda _: "127.0.0.1", lambda _: "owner")
    assert actual == [200] * BY_ADDRESS_AND_ACCOUNT.free + [429] * (12 - BY_ADDRESS_AND_ACCOUNT.free)
    assert owner.post("/login/", RIGHT).status_code == 302


def test_guesses_from_many_addresses_do_not_lock_out_the_owner(owner: Client) -> None:
    actual = guesses(BY_ACCOUNT.free + 5, lambda number: f"192.0.2.{number}", lambda _: "owner")
    assert actual.count(429) >= 5
    assert owner.post("/login/", RIGHT).status_code == 302
    assert BY_ACCOUNT.longest <= timedelta(seconds=30), "the owner waits no longer than that in a new browser"


def test_guesses_from_one_address_at_many_accounts_are_limited(db: None) -> None:
    actual = guesses(BY_ADDRESS.free + 5, lambda _: "192.0.2.1", lambda number: f"account{number}")
    assert actual == [200] * BY_ADDRESS.free + [429] * 5
    assert guesses(1, lambda _: "2001:db8::1", lambda _: "a") == [200]


def test_addresses_of_one_ipv6_network_share_a_limit(db: None) -> None:
    actual = guesses(BY_ADDRESS.free + 1, lambda number: f"2001:db8::{number:x}", lambda number: f"a{number}")
    assert actual[-1] == 429


def test_each_pause_after_wrong_guesses_is_twice_as_long(owner: Client) -> None:
    guesses(BY_ADDRESS_AND_ACCOUNT.free, lambda _: "192.0.2.1", lambda _: "owner")
    pauses = []
    for _ in range(12):
        refused = Client().post("/login/", RIGHT, REMOTE_ADDR="192.0.2.1")
        assert refused.status_code == 429
        pauses.append(int(refused["Retry-After"]))
        LoginGuesses.objects.update(next_at=timezone.now())
        assert guesses(1, lambda _: "192.0.2.1", lambda _: "owner") == [200]
    assert pauses == [min(900, 5 * 2**number) for number in range(12)]
    LoginGuesses.objects.update(next_at=timezone.now())
    assert Client().post("/login/", RIGHT, REMOTE_ADDR="192.0.2.1").status_code == 302


def test_known_browser_cookie_counts_only_for_its_own_account(owner: Client) -> None:
    factories.user("another")
    for name in ("another", "nobody"):
        response = [
            owner.post("/login/", {"username": name, "password": "wrong"}).status_code
            for _ in range(BY_ADDRESS_AND_ACCOUNT.free + 1)
        ]
        assert response[-1] == 429
    owner.cookies["known_browser"] = owner.cookies["known_browser"].value[:-2] + "xx"
    guesses(BY_ADDRESS_AND_ACCOUNT.free, lambda _: "127.0.0.1", lambda _: "owner")
    assert owner.post("/login/", RIGHT).status_code == 429


def test_wrong_passwords_in_a_known_browser_are_throttled_too(owner: Client) -> None:
    response = [owner.post("/login/", WRONG).status_code for _ in range(BY_ADDRESS_AND_ACCOUNT.free + 2)]
    assert response[-2:] == [429, 429]


@pytest.mark.django_db(transaction=True)
def test_exactly_the_limit_of_concurrent_guesses_is_checked() -> None:
    checked = at_once(24, lambda: guess_count(Guesser("owner", "192.0.2.1")))
    assert (
        sorted(checked) == [False] * (24 - BY_ADDRESS_AND_ACCOUNT.free) + [True] * BY_ADDRESS_AND_ACCOUNT.free
    )


def at_once(many: int, guess: Callable[[], None]) -> list[bool]:
    """Guess in many threads at once; return for each guess whether it would be checked."""
    actual, begin = [], threading.Barrier(many)

    def take_part() -> None:
        begin.wait(30)
        try:
            guess()
            actual.append(True)
        except TooSoon:
            actual.append(False)
        finally:
            connection.close()

    threads = [threading.Thread(target=take_part) for _ in range(many)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return actual


@pytest.mark.django_db(transaction=True)
def test_password_checks_use_at_most_two_threads_per_process(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    factories.user("owner")
    running, most, lock, go_on = 0, 0, threading.Lock(), threading.Event()
    quick = MD5PasswordHasher.verify

    def slow(self: MD5PasswordHasher, password: str, encoded: str) -> bool:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        go_on.wait(PATIENCE)
        with lock:
            running -= 1
        return quick(self, password, encoded)

    monkeypatch.setattr(MD5PasswordHasher, "verify", slow)
    actual: queue.Queue[int] = queue.Queue()

    def log_in(number: int) -> None:
        answer = Client().post("/login/", WRONG, REMOTE_ADDR=f"192.0.2.{number}")
        actual.put(answer.status_code)
        connection.close()

    threads = [threading.Thread(target=log_in, args=[number]) for number in range(8)]
    for thread in threads:
        thread.start()
    assert [actual.get(timeout=PATIENCE) for _ in range(6)] == [429] * 6
    assert Client().get("/login/").status_code == 200
    assert most == running == logins.CHECKED_AT_ONCE
    go_on.set()
    for thread in threads:
        thread.join()
    assert [actual.get(), actual.get()] == [200, 200]


PROXIES = ["10.0.0.0/8", "fd00::/8"]


def test_forwarded_address_is_trusted_only_from_a_trusted_proxy(db: None, settings) -> None:
    settings.TRUSTED_PROXIES = []
    actual = [
        Client().post(
            "/login/", WRONG, REMOTE_ADDR="198.51.100.1", headers={"x-forwarded-for": f"192.0.2.{number}"}
        ).status_code
        for number in range(6)
    ]  # fmt: skip
    assert actual[-1] == 429, "a forged address is ignored"
    settings.TRUSTED_PROXIES = PROXIES
    actual = [
        Client().post(
            "/login/", WRONG, REMOTE_ADDR="10.0.0.1",
            headers={"x-forwarded-for": f"made.up, 8.8.8.8, 192.0.2.{number}"},
        ).status_code
        for number in range(6)
    ]  # fmt: skip
    assert actual == [200] * 6, "six clients behind one proxy have six addresses"


@given(st.lists(st.ip_addresses().map(str), max_size=5), st.ip_addresses().map(str))
def test_forged_forwarded_addresses_do_not_change_the_client_address(made_up: list[str], real: str) -> None:
    trusted = [ipaddress.ip_network(network) for network in PROXIES]
    if any(ipaddress.ip_address(real) in network for network in trusted):
        return
    proxies = ["10.0.0.8", "fd00::9"]
    assert client_address("10.0.0.1", ", ".join([*made_up, real, *proxies]), trusted) == real
    assert client_address(real, ", ".join(made_up), trusted) == real
