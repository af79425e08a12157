"""Error pages say what happened, whether anything was lost, and what to do."""

import uuid

import pytest
from django.test import Client, RequestFactory
from django.urls import reverse
from django.views.defaults import server_error

from tests import factories
from tests.planner.pages import text_of

pytestmark = pytest.mark.django_db


def test_a_404_page_states_the_reason_and_links_home(browser: Client) -> None:
    answer = browser.get(reverse("planner:run-detail", args=[uuid.uuid4()]))
    assert answer.status_code == 404
    assert "There is no page at this address" in text_of(answer)
    assert f'href="{reverse("planner:home")}"' in answer.content.decode()


def test_an_expired_form_is_explained() -> None:
    browser = Client(enforce_csrf_checks=True)
    browser.force_login(factories.user())
    answer = browser.post(reverse("planner:sample"))
    assert answer.status_code == 403
    assert "This page has expired" in text_of(answer)


def test_a_form_with_too_many_fields_changes_nothing(browser: Client) -> None:
    answer = browser.post(reverse("planner:import"), {f"field{number}": "" for number in range(2000)})
    assert answer.status_code == 400
    assert "Nothing was changed" in text_of(answer)


def test_a_500_page_blames_queuecast(rf: RequestFactory) -> None:
    answer = server_error(rf.get("/"))
    assert answer.status_code == 500
    assert "This is a fault in Queuecast, not in your plan" in text_of(answer)
