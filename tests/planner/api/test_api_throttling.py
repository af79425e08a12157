"""Writes are throttled with a Retry-After header; reads are not."""

import pytest
from django.core.cache import cache
from rest_framework.test import APIClient

from planner.api.throttling import WritingCalls
from planner.runs.models import Run
from tests import factories


@pytest.fixture(autouse=True)
def _three_a_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    cache.clear()
    monkeypatch.setattr(WritingCalls, "rate", "3/min", raising=False)


def test_the_fourth_write_in_a_minute_is_throttled_and_reads_are_not(api: APIClient) -> None:
    address = f"/api/v1/scenarios/{factories.scenario().pk}/runs/"
    assert [api.post(address).status_code for _ in range(3)] == [202, 202, 202]
    refused = api.post(address)
    assert refused.status_code == 429
    assert refused.json()["code"] == "throttled"
    assert 0 < int(refused["Retry-After"]) <= 60
    assert Run.objects.count() == 3
    assert {api.get(address).status_code for _ in range(9)} == {200}
