"""Private pages are not cached, and the load of the installation is shown to members only."""

import pytest
from django.test import Client
from rest_framework.test import APIClient

from planner.accounts.models import Role
from tests import factories

pytestmark = pytest.mark.django_db


def test_private_pages_are_cached_by_neither_browsers_nor_proxies(browser: Client) -> None:
    scenario = factories.scenario()
    for address in ("/", f"/scenarios/{scenario.pk}/", "/import/", "/account/", "/status/", "/nowhere/"):
        assert browser.get(address)["Cache-Control"] == "private, no-store", address
    assert Client().get("/")["Cache-Control"] == "private, no-store"
    log_in = Client().get("/login/")["Cache-Control"]
    assert "no-store" in log_in
    assert "private" in log_in


def test_api_responses_are_private_and_revalidated(api: APIClient) -> None:
    for address in ("runs/", "scenarios/", "status/", "nowhere/"):
        assert api.get(f"/api/v1/{address}")["Cache-Control"] == "private, no-cache", address


def test_status_page_is_visible_only_to_members() -> None:
    outsider = factories.user("outsider", role=None)
    viewer = factories.user("viewer", role=Role.VIEWER)
    superuser = factories.user("root", role=None)
    superuser.is_superuser = True
    superuser.save()
    for account, expected in ((outsider, 403), (viewer, 200), (superuser, 200)):
        client = Client()
        client.force_login(account)
        assert client.get("/status/").status_code == expected
        assert client.get("/api/v1/status/").status_code == expected
