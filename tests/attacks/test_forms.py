"""Fields of pages that contain JSON, with JSON that the interpreter cannot read."""

import pytest
from django.test import Client
from django.urls import reverse

from planner.scenarios.models import Queue
from tests import factories

pytestmark = pytest.mark.django_db

UNREADABLE = ["[" * 50_000, '{"a":' * 50_000, f'{{"weight": {"9" * 5_000}}}', "{", "\0", '{"weight": NaN}']
NAMES = ["list", "object", "digits", "cut", "NUL", "NaN"]


@pytest.mark.parametrize("text", UNREADABLE, ids=NAMES)
def test_unreadable_change_of_a_queue_is_refused(browser: Client, text: str) -> None:
    scenario = factories.scenario()
    address = reverse(
        "planner:reach",
        args=[scenario.pk],
        query={"figure": "deserved", "queue": "waits", "resource": "cpu"},
    )
    answer = browser.post(address, {"revision": "1", "queue": "waits", "patch": text})
    assert answer.status_code == 422
    assert Queue.objects.get(scenario=scenario, name="waits").weight == 1


@pytest.mark.parametrize("text", UNREADABLE, ids=NAMES)
def test_unreadable_open_lines_count_as_none(browser: Client, text: str) -> None:
    address = reverse("planner:queues-preview", args=[factories.scenario().pk])
    assert browser.post(address, {"resource": "cpu", "lines": text}).status_code == 200


@pytest.mark.parametrize("text", UNREADABLE, ids=NAMES)
def test_unreadable_operations_on_a_configuration_are_refused(browser: Client, text: str) -> None:
    scenario = factories.scenario()
    address = reverse("planner:conf-edit", args=[scenario.pk])
    answer = browser.post(address, {"revision": "1", "operations": text})
    assert answer.status_code == 422
    scenario.refresh_from_db()
    assert scenario.revision == 1
